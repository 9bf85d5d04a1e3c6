import { useState } from 'preact/hooks';
import type { Session } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { membershipOf, type Group } from '../../base/group.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { readFirst } from '../base/first-pages.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath, deleteObject, patchCommand } from '../base/kubectl.js';
import { Failure, Kubectl } from '../base/parts.js';
import { useRequest } from '../base/use-request.js';
import { BulkAct, BulkDelete } from '../table/bulk-act.js';
import { patchGroup, withMembers } from './group-members.js';

interface JoinProps {
  kind: Kind;
  groups: readonly Group[];
  addresses: readonly string[];
  /** Called after they were added. */
  onDone: () => void;
}

/** Adds the selected people to a group that is chosen, by one request. */
function JoinGroup({ kind, groups, addresses, onDone }: JoinProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const { busy, failure, run } = useRequest();
  const group = groups.find(({ metadata }) => metadata.name === name);
  const added = addresses.filter((address) => group && !membershipOf(group, address));
  if (!isOpen) {
    return (
      <Button variant="small" onPress={() => setOpen(true)}>
        {t('people.join')}
      </Button>
    );
  }
  const patch = group && withMembers(group, added);
  const join = async (): Promise<void> => {
    if (!group || !patch || added.length === 0) return;
    const isDone = await run(() => patchGroup(kind, group, patch));
    if (!isDone) return;
    announce(t('people.joined', { count: added.length, group: group.spec.displayName }));
    setOpen(false);
    onDone();
  };
  return (
    <div class="confirm harmless">
      <Form look="search" onSubmit={() => void join()}>
        <Field
          id="bulk-group"
          label={t('console.people.join')}
          choices={[
            ['', t('console.people.choose')],
            ...groups.map(({ metadata, spec }) => [metadata.name, spec.displayName] as const),
          ]}
          value={name}
          onText={setName}
        />
        <Button variant="main" submit busy={busy} disabled={added.length === 0}>
          {t('people.join.count', { count: added.length })}
        </Button>
        <Button onPress={() => setOpen(false)}>{t('console.cancel')}</Button>
      </Form>
      {failure && <Failure failure={failure} isChange />}
      {patch && added.length > 0 && <Kubectl command={patchCommand(kind, name, patch)} />}
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
        <JoinGroup
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
