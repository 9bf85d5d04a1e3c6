import type { Account } from '../../api.js';
import { call } from '../../base/api/api.js';
import { format, t } from '../../base/text/message.js';
import { Face } from '../../base/frame/app-page.js';
import { Status } from '../../base/status.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Act } from '../base/act.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath, getCommand } from '../base/kubectl.js';
import { A, CopyButton, Failure, Kubectl, Loading } from '../base/parts.js';
import { Passkeys, Sessions } from './person-devices.js';
import { PersonState } from './person-state.js';
import { Groups } from './person-groups.js';
import { Recovery } from './person-recovery.js';
import { pathTo } from '../base/route.js';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { useObject } from '../base/use-object.js';

/** It has the words of decisions, which are many. */
const timelineChunk = new Lazy(() => import('./person-timeline.js'));

/** What stands in the way of the person, if anything does. */
function State({ account: { metadata, status } }: { account: Account }) {
  if (metadata.deletionTimestamp) {
    return <Status look="notice warn">{t('console.people.deleting.what')}</Status>;
  }
  return (
    <>
      {status.disabledTimestamp && (
        <Status look="notice warn">
          {format('console.people.disabled.since', {
            when: <Timestamp of={status.disabledTimestamp} />,
          })}
        </Status>
      )}
      {!status.email.verifiedTimestamp && <p class="notice">{t('console.people.unverified')}</p>}
    </>
  );
}

/** One line: the address, whether one can sign in, and when that was last done. */
const Facts = ({ account: { metadata, status } }: { account: Account }) => (
  <p class="fact-line">
    <span>
      <bdi dir="ltr">{status.email.address}</bdi> <CopyButton text={status.email.address} />
    </span>
    <PersonState
      isDeleting={metadata.deletionTimestamp !== undefined}
      isDisabled={status.disabledTimestamp !== undefined}
    />
    <span>
      {status.lastSignInTimestamp
        ? format('console.people.signedin', { when: <Timestamp of={status.lastSignInTimestamp} /> })
        : t('console.people.never')}
    </span>
  </p>
);

/** Disables the account, or enables it again. */
function Ability({ accounts, account }: { accounts: Kind; account: Account }) {
  const { metadata, status } = account;
  const isDisabled = status.disabledTimestamp !== undefined;
  const action = isDisabled ? 'enable' : 'disable';
  const mayAct = useIsAllowed(accounts, 'create', metadata.name, action);
  if (!mayAct) return null;
  const body = {
    apiVersion: accounts.apiVersion,
    kind: isDisabled ? 'AccountEnabling' : 'AccountDisabling',
    spec: {},
  };
  return (
    <Act
      key={action}
      label={t(`console.people.${action}`)}
      command={actionCommand(accounts, metadata.name, action, body)}
      isDanger={!isDisabled}
      work={() => call('POST', actionPath(accounts, metadata.name, action), body)}
      done={t(`console.people.${action}.done`)}
    >
      {t(`console.people.${action}.what`)}
    </Act>
  );
}

function Links({ accounts, name }: { accounts: Kind; name: string }) {
  const { listed } = useConsole();
  const mayDelete = useIsAllowed(accounts, 'delete', name);
  return (
    <>
      <A to={pathTo(accounts.resource, name)} look="button small">
        {t('console.people.fields')}
      </A>
      {kindOf(listed, 'PolicyDecision') && (
        <A to={`${pathTo(accounts.resource, name)}?view=decisions`} look="button small">
          {t('console.view.decisions')}
        </A>
      )}
      {mayDelete && (
        <A to={pathTo(accounts.resource, name, 'delete')} look="button small danger">
          {t('console.delete.link')}
        </A>
      )}
    </>
  );
}

function Person({ accounts, account }: { accounts: Kind; account: Account }) {
  const { kinds, listed } = useConsole();
  const { loaded: timeline } = useLazy(timelineChunk);
  const decisions = kindOf(listed, 'PolicyDecision');
  const props = { account };
  const [groups, sessions, passkeys, recoveries] = (
    ['Group', 'Session', 'Passkey', 'Recovery'] as const
  ).map((kind) => kindOf(kinds, kind));
  const isDeleting = account.metadata.deletionTimestamp !== undefined;
  return (
    <>
      <Facts account={account} />
      <State account={account} />
      {!isDeleting && (
        <div class={decisions ? 'columns person-columns' : 'columns'}>
          <Ability accounts={accounts} account={account} />
          {decisions && (
            <div class="happened-place">
              {timeline && <timeline.PersonTimeline kind={decisions} account={account} />}
            </div>
          )}
          {groups && <Groups kind={groups} {...props} />}
          {sessions && <Sessions kind={sessions} {...props} />}
          {passkeys && <Passkeys kind={passkeys} {...props} />}
          {recoveries && <Recovery kind={recoveries} accounts={accounts} {...props} />}
        </div>
      )}
    </>
  );
}

/** A person: the state of the account, groups, devices, passkeys, and what an operator does to help. */
export function PersonView({ accounts, name }: { accounts: Kind; name: string }) {
  const { items, failure, reload, object: account } = useObject<Account>(accounts, name);
  const address = account?.status.email.address ?? name;
  const shown = account?.spec.displayName;
  return (
    <Frame
      title="console.people.title"
      values={{ address }}
      heading={
        <span class="who big">
          <Face name={shown ?? address} />
          {shown ? <bdi>{shown}</bdi> : <bdi dir="ltr">{address}</bdi>}
        </span>
      }
      part="people"
      actions={account && <Links accounts={accounts} name={name} />}
    >
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && !account && <Status look="notice warn">{t('console.gone')}</Status>}
      {account && <Person accounts={accounts} account={account} />}
      <Kubectl command={getCommand(accounts, name)} />
    </Frame>
  );
}
