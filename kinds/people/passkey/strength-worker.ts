import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import type { Outcome, Worker } from '../../../registry/store/outbox.js';
import type { Store } from '../../../registry/store/store.js';
import { Passkey } from './passkey.js';
import { hasFullStrength } from './strength.js';
import type { StrengthRow } from './strength-row.js';

/**
 * Returns the worker that updates the condition FullStrength of a passkey when its wait is over, so
 * that watches see it. Decisions depend on the time, not on the condition.
 */
export const passkeyWorker = (store: Store): Worker<StrengthRow> => ({
  name: 'passkey',
  delivery: 'Idempotent',
  maxParallel: 2,
  run({ passkey: name }): Promise<Outcome> {
    const call = store.systemCall();
    return call.change(async (tx): Promise<Outcome> => {
      const passkey = await tx.get(Passkey, name);
      if (!passkey) return { done: true };
      const { status } = passkey;
      if (!hasFullStrength(status, call.now)) {
        return { done: false, notBefore: fromTimestamp(status.fullStrengthTimestamp) };
      }
      await tx.update(Passkey, name, () => {});
      return { done: true };
    });
  },
});
