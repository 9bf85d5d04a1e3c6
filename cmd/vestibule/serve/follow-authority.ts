import { isDeepStrictEqual } from 'node:util';
import type { Memberships } from '../../../kinds/people/group/membership-index.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { AuthorityChanges } from '../../../registry/authority-changes.js';
import type { Caller } from '../../../registry/kind.js';
import type { WatchCache } from '../../../registry/watchcache/watch-cache.js';

/** What belongs to one account, whose name its own name begins with. */
const ofAccount = /^objects\/(?:accounts|sessions|grants|passkeys)\/([^-/]+)/;

/** Follows what open watches were permitted by. */
export function followAuthority(
  watchCache: Pick<WatchCache, 'onChange'>,
  groups: Pick<Memberships, 'version' | 'indexedGroupsOf'>,
  { activation }: Pick<PolicyAuthorizer, 'activation'>,
): AuthorityChanges {
  const listeners: Parameters<AuthorityChanges['subscribe']>[0][] = [];
  const notify = (concerns: (caller: Caller) => boolean): void => {
    for (const listener of listeners) listener(concerns);
  };
  const hasOtherGroups = (caller: Caller): boolean =>
    caller.type === 'Account' &&
    !isDeepStrictEqual(groups.indexedGroupsOf(caller.email), caller.groups ?? []);
  let { version } = groups;
  const noticeGroups = (): void => {
    if (groups.version === version) return;
    ({ version } = groups);
    notify(hasOtherGroups);
  };
  watchCache.onChange(({ key }) => {
    const [, account] = ofAccount.exec(key) ?? [];
    if (account !== undefined) {
      notify((caller) => caller.type === 'Account' && caller.account === account);
    } else if (key.startsWith('objects/groups/')) {
      queueMicrotask(noticeGroups); // after the index
    }
  });
  activation.onChange(() => notify(() => true));
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
