import type { ScopeIndex } from '../../../kinds/claims/scope-index.js';
import type { Memberships } from '../../../kinds/group/membership-index.js';
import type { OperatorPasskeys } from '../../../kinds/group/operator-passkeys.js';
import type { DisposableStack } from './disposables.js';

/** Starts three indexes; they follow their kinds until the stop. */
export async function startIndexes(
  groups: Memberships,
  scopeIndex: ScopeIndex,
  operatorPasskeys: OperatorPasskeys,
  disposables: DisposableStack,
): Promise<void> {
  disposables.add(() => {
    groups.stop();
    scopeIndex.stop();
    operatorPasskeys.stop();
  });
  operatorPasskeys.start();
  await Promise.all([groups.start(), scopeIndex.start()]);
}
