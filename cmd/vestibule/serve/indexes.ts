import { InvitationController } from '../../../kinds/access/invitation/controller.js';
import { AppearanceIndex } from '../../../kinds/appearance/appearance-index.js';
import { ScopeIndex } from '../../../kinds/apps/claims/scope-index.js';
import { Memberships } from '../../../kinds/people/group/membership-index.js';
import { OperatorPasskeys } from '../../../kinds/people/group/operator-passkeys.js';
import { SettingsIndex } from '../../../kinds/settings/settings-index.js';
import type { Log } from '../../../observability/log.js';
import type { Store } from '../../../registry/store/store.js';
import type { DisposableStack } from '../../../security/disposable-stack.js';

/** The indexes over stored objects. */
export interface Indexes {
  readonly appearance: AppearanceIndex;
  readonly groups: Memberships;
  readonly invitations: InvitationController;
  readonly operatorPasskeys: OperatorPasskeys;
  readonly scopeIndex: ScopeIndex;
  readonly settings: SettingsIndex;
}

/** Starts the indexes, but `invitations`, which needs the policy; they follow their kinds until the stop. */
export async function openIndexes(
  store: Store,
  operators: readonly string[],
  log: Log,
  disposables: DisposableStack,
): Promise<Indexes> {
  const groups = new Memberships(store, operators);
  const indexes: Indexes = {
    appearance: new AppearanceIndex(store),
    groups,
    invitations: new InvitationController(store, groups, log),
    operatorPasskeys: new OperatorPasskeys(store, groups),
    scopeIndex: new ScopeIndex(store),
    settings: new SettingsIndex(store, log),
  };
  disposables.add(async () => {
    for (const index of Object.values(indexes)) await index.stop();
  });
  indexes.operatorPasskeys.start();
  const { appearance, scopeIndex, settings } = indexes;
  await Promise.all([appearance, groups, scopeIndex, settings].map((index) => index.start()));
  return indexes;
}
