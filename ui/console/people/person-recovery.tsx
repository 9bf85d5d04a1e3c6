import type { Account, Recovery as RecoveryObject } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useCollection } from '../../base/api/collection.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath } from '../base/kubectl.js';
import { A, Failure, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';

interface Props {
  /** The kind Recovery. */
  readonly kind: Kind;
  readonly accounts: Kind;
  readonly account: Account;
}

function Start({ kind, accounts, account: { metadata } }: Props) {
  const mayStart = useIsAllowed(accounts, 'create', metadata.name, 'recovery');
  if (!mayStart) return null;
  const body = { apiVersion: kind.apiVersion, kind: 'Recovery', spec: {} };
  return (
    <Act
      label={t('console.people.recover')}
      command={actionCommand(accounts, metadata.name, 'recovery', body)}
      isDanger
      work={() => call('POST', actionPath(accounts, metadata.name, 'recovery'), body)}
      done={t('console.people.recover.done')}
    >
      {t('console.people.recover.what')}
    </Act>
  );
}

/** The recovery of an account whose passkeys are lost: the one that waits, or the way to start one. */
export function Recovery({ kind, accounts, account }: Props) {
  const { items, failure, reload } = useCollection<RecoveryObject>(kind.path, {
    fieldSelector: `status.account=${account.metadata.name}`,
  });
  const waiting = items?.find(({ status }) => status.phase === 'Waiting');
  if (!waiting && account.status.passkeys === 0) return null;
  return (
    <Part id="recovery" title={t('console.people.recovery')}>
      {failure && <Failure failure={failure} retry={reload} />}
      {waiting && (
        <p>
          {format('console.people.recovery.waits', {
            when: <Timestamp of={waiting.status.readyTimestamp} />,
          })}{' '}
          <A to={pathTo(kind.resource, waiting.metadata.name)}>{t('console.people.fields')}</A>
        </p>
      )}
      {items && !waiting && <Start kind={kind} accounts={accounts} account={account} />}
    </Part>
  );
}
