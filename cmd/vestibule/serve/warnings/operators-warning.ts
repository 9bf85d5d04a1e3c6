import { Group, operators, unusedOperators } from '../../../../kinds/people/group/group.js';
import type { Log } from '../../../../observability/log.js';
import type { Store } from '../../../../registry/store/store.js';
import { warnOfOpenSignUp } from './sign-up-warning.js';

/**
 * Logs a warning if addresses of `--operators` are no operators, because Group `operators` has
 * members and they are none of them.
 */
async function warnOfUnusedOperators(store: Store, log: Log): Promise<void> {
  const group = await store.reader(Group).get(operators);
  const unused = group ? unusedOperators(group.spec, store) : [];
  if (unused.length === 0) return;
  log.warn(
    { operators: unused, group: operators, docs: 'docs/how-to/console.md#operators' },
    'addresses of --operators are no operators: Group operators has members; add the addresses to it or ' +
      'leave the setting out',
  );
}

/** Logs warnings about who may sign up and who operates the service, once its manifests are applied. */
export async function warnOfRights(store: Store, log: Log): Promise<void> {
  await warnOfOpenSignUp(store, log);
  await warnOfUnusedOperators(store, log);
}
