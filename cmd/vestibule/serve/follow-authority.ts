import type { Memberships } from '../../../kinds/group/membership-index.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { AuthorityChanges } from '../../../registry/authority-changes.js';
import type { WatchCache } from '../../../registry/watchcache/watch-cache.js';

/** What belongs to one account, whose name its own name begins with. */
const ofAccount = /^objects\/(?:accounts|sessions|grants|passkeys)\/([^-/]+)/;

/** Follows what open watches were permitted by. */
export function followAuthority(
  watchCache: Pick<WatchCache, 'onChange'>,
  groups: Pick<Memberships, 'version'>,
  { activation }: Pick<PolicyAuthorizer, 'activation'>,
): AuthorityChanges {
  const listeners: ((account: string | undefined) => void)[] = [];
  const notify = (account?: string): void => {
    for (const listener of listeners) listener(account);
  };
  let { version } = groups;
  const noticeGroups = (): void => {
    if (groups.version === version) return;
    ({ version } = groups);
    notify();
  };
  watchCache.onChange(({ key }) => {
    const [, account] = ofAccount.exec(key) ?? [];
    if (account !== undefined) notify(account);
    else if (key.startsWith('objects/groups/')) queueMicrotask(noticeGroups); // after the index
  });
  activation.onChange(() => notify());
  return {
    subscribe(listener) {
      listeners.push(listener);
    },
    settle() {
      noticeGroups();
      return activation.pending();
    },
  };
}
