import { useState } from 'preact/hooks';
import type { Session } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import type { Group } from '../../base/group.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { readFirst } from '../base/first-pages.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath, deleteObject } from '../base/kubectl.js';
import { BulkAct, BulkDelete } from '../table/bulk-act.js';
import { JoinForm, type JoinProps } from './join-form.js';

/** Adds the selected people to a group that is chosen, by one request. */
function Join(props: JoinProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) {
    return (
      <Button variant="small" onPress={() => setOpen(true)}>
        {t('people.join')}
      </Button>
    );
  }
  return (
    <div class="confirm harmless">
      <JoinForm {...props} onEnd={() => setOpen(false)} />
    </div>
  );
}

/** Ends every session of an account, as `kubectl delete` with a field selector does. */
async function signOut(sessions: Kind, account: string): Promise<void> {
  const fieldSelector = `status.account=${account}`;
  const { items } = await readFirst<Session>(sessions.path, { fieldSelector });
  for (const { metadata } of items) await deleteObject(sessions, metadata.name);
}

interface Props {
  accounts: Kind;
  names: readonly string[];
  addressOf: (name: string) => string;
  groups: readonly Group[] | undefined;
  reloadGroups: () => void;
}

/** What can be done with the selected people. */
export function PeopleActs({ accounts, names, addressOf, groups, reloadGroups }: Props) {
  const { kinds } = useConsole();
  const [groupKind, sessions] = [kindOf(kinds, 'Group'), kindOf(kinds, 'Session')];
  const mayJoin = useIsAllowed(groupKind ?? accounts, 'patch');
  const mayDisable = useIsAllowed(accounts, 'create', names[0], 'disable');
  const mayDelete = useIsAllowed(accounts, 'delete');
  const maySignOut = useIsAllowed(sessions ?? accounts, 'delete');
  const body = { apiVersion: accounts.apiVersion, kind: 'AccountDisabling', spec: {} };
  const shared = { names, titleOf: addressOf };
  const count = names.length;
  return (
    <>
      {groupKind && mayJoin && groups && (
        <Join
          kind={groupKind}
          groups={groups}
          addresses={names.map(addressOf)}
          onDone={reloadGroups}
        />
      )}
      {sessions && maySignOut && (
        <BulkAct
          {...shared}
          label={t('people.signout')}
          question={t('people.signout.what', { count })}
          command={(name) =>
            `kubectl delete ${sessions.resource}.${sessions.group} --field-selector=status.account=${name}`
          }
          isDanger
          work={(name) => signOut(sessions, name)}
          done={t('console.people.signout.done')}
        />
      )}
      {mayDisable && (
        <BulkAct
          {...shared}
          label={t('people.disable')}
          question={t('people.disable.what', { count })}
          command={(name) => actionCommand(accounts, name, 'disable', body)}
          isDanger
          work={(name) => call('POST', actionPath(accounts, name, 'disable'), body)}
          done={t('people.disable.done')}
        />
      )}
      {mayDelete && <BulkDelete kind={accounts} {...shared} />}
    </>
  );
}
