import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Replica } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Icon } from '../../base/frame/icon.js';
import { now } from '../../base/api/clock.js';
import { addMessages } from '../../base/text/i18n.js';
import { announce } from '../../base/live-region.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import messages from '../../messages/en/checklist.json';
import type { MessageID } from '../../messages/catalog.js';
import {
  backupFinding,
  baseURLFinding,
  isMailMocked,
  isPublicURL,
  mailFinding,
  settingOf,
  type Finding,
} from './checklist-rules.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { actionPath } from '../base/kubectl.js';
import { useOperatorsState, type OperatorsState } from './operators-state.js';
import { A, Code, Failure, Loading } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { useRequest } from '../base/use-request.js';

addMessages(messages);

type ItemName = 'url' | 'mail' | 'operators' | 'backup';
type ItemState = 'done' | 'missing' | 'unknown';

const stateOf = ({ isDone }: Finding): ItemState => (isDone ? 'done' : 'missing');

/** An item: its state, why it matters, and the way to do it. */
function Item({
  name,
  state,
  children,
}: {
  name: ItemName;
  state: ItemState;
  children?: ComponentChildren;
}) {
  return (
    <li>
      <h2>
        {t(`console.check.${name}`)}{' '}
        <span class={`check ${state}`}>{t(`console.check.${state}`)}</span>
      </h2>
      <p class="hint">{t(`console.check.${name}.why`)}</p>
      {children}
    </li>
  );
}

/** A setting or command to copy, with what it is for. */
const HowTo = ({ id, text }: { id: MessageID; text: string }) => (
  <>
    <p>{t(id)}</p>
    <Code text={text} label={t(id)} />
  </>
);

interface ItemProps {
  readonly replicas: readonly Replica[];
}

function BaseURLItem({ replicas }: ItemProps) {
  const finding = baseURLFinding(replicas);
  const settings = replicas.map((replica) => settingOf(replica, 'base-url'));
  const setting = settings.find((candidate) => !isPublicURL(candidate?.value)) ?? settings[0];
  return (
    <Item name="url" state={stateOf(finding)}>
      {setting?.value !== undefined && (
        <p>
          {format('console.check.url.now', {
            value: <bdi dir="ltr">{setting.value}</bdi>,
            source: t(`console.source.${setting.source}`),
          })}
        </p>
      )}
      {!finding.isDone && (
        <HowTo id="console.check.url.how" text="--base-url https://id.example.org" />
      )}
    </Item>
  );
}

/** Sends a mail to the caller; whether it was accepted is known from the Replicas. */
function TestMail({ accounts }: { accounts: Kind }) {
  const { account } = useConsole();
  const { busy, failure, run } = useRequest();
  const [isSent, setSent] = useState(false);
  if (!useIsAllowed(accounts, 'create', account, 'testmail')) return null;
  const body = { apiVersion: accounts.apiVersion, kind: 'TestMail', spec: {} };
  const send = (): Promise<boolean> =>
    run(async () => {
      await call('POST', actionPath(accounts, account, 'testmail'), body);
      setSent(true);
      announce(t('console.check.mail.sent'));
    });
  return (
    <>
      {failure && <Failure failure={failure} isChange />}
      {isSent && <p>{t('console.check.mail.sent')}</p>}
      <Button variant="small" busy={busy} progress="working" onPress={() => void send()}>
        {t('console.check.mail.send')}
      </Button>
    </>
  );
}

function MailItem({ replicas }: ItemProps) {
  const accounts = kindOf(useConsole().kinds, 'Account');
  const finding = mailFinding(replicas);
  if (isMailMocked(replicas)) {
    return (
      <Item name="mail" state="missing">
        <HowTo
          id="console.check.mail.mock"
          text="--smtp-url smtps://USER:PASSWORD@mail.example.org"
        />
      </Item>
    );
  }
  return (
    <Item name="mail" state={stateOf(finding)}>
      <p>
        {finding.last === undefined
          ? t('console.check.mail.none')
          : format('console.check.mail.last', { when: <Timestamp of={finding.last} /> })}
      </p>
      {!finding.isDone && accounts && <TestMail accounts={accounts} />}
    </Item>
  );
}

const operatorsStates: Record<Exclude<OperatorsState, 'Loading'>, ItemState> = {
  Unknown: 'unknown',
  NoGroup: 'missing',
  NoMembers: 'missing',
  NoPasskey: 'missing',
  Done: 'done',
};

function OperatorsItem({ state }: { state: Exclude<OperatorsState, 'Loading'> }) {
  const group =
    state === 'NoGroup' ? pathTo('groups', '-', 'new') : pathTo('groups', 'operators', 'edit');
  return (
    <Item name="operators" state={operatorsStates[state]}>
      {state === 'Unknown' && <p>{t('console.check.unknown.why')}</p>}
      {(state === 'NoGroup' || state === 'NoMembers') && (
        <p>
          {t('console.check.operators.group')} <A to={group}>{t('console.check.operators.edit')}</A>
        </p>
      )}
      {state === 'NoPasskey' && (
        <p>
          {t('console.check.operators.passkey')}{' '}
          <a href="/account">{t('console.check.operators.account')}</a>
        </p>
      )}
    </Item>
  );
}

/** Returns the command that saves a snapshot of the store that the replicas use. */
function saveCommand([replica]: readonly Replica[]): string {
  const flag = replica?.status.store.driver === 'Etcd' ? 'etcd-servers' : 'data-dir';
  const value = replica && settingOf(replica, flag)?.value;
  return `vestibule snapshot save "vestibule-$(date +%F).snapshot" --${flag} '${value ?? '…'}'`;
}

function BackupItem({ replicas }: ItemProps) {
  const finding = backupFinding(replicas, now());
  const isEtcd = replicas.some(({ status }) => status.store.driver === 'Etcd');
  return (
    <Item name="backup" state={stateOf(finding)}>
      <p>
        {finding.last === undefined
          ? t('console.check.backup.none')
          : format('console.check.backup.last', { when: <Timestamp of={finding.last} /> })}{' '}
        {!finding.isDone && isEtcd && t('console.check.backup.etcd')}
      </p>
      {!finding.isDone && <HowTo id="console.check.backup.how" text={saveCommand(replicas)} />}
    </Item>
  );
}

const findings: readonly (readonly [ItemName, (replicas: readonly Replica[]) => Finding])[] = [
  ['url', baseURLFinding],
  ['mail', mailFinding],
  ['backup', (replicas) => backupFinding(replicas, now())],
];

/** What is missing for production in a line that opens; it says so when nothing is. */
export function Checklist({ replicas }: ItemProps) {
  const operators = useOperatorsState();
  if (operators === 'Loading') return <Loading />;
  const missing = findings.filter(([, finding]) => !finding(replicas).isDone).map(([name]) => name);
  if (operators !== 'Done') missing.push('operators');
  return (
    <details class={missing.length > 0 ? 'checks-note warn' : 'checks-note'}>
      <summary>
        <Icon of={missing.length === 0 ? 'circle-check' : 'triangle-alert'} />
        {missing.length === 0 ? (
          t('console.check.ready')
        ) : (
          <>
            <strong>
              {t('overview.missing', { count: missing.length, all: findings.length + 1 })}
            </strong>{' '}
            <span>{missing.map((name) => t(`console.check.${name}`)).join(' · ')}</span>
            <span class="button small">{t('overview.how')}</span>
          </>
        )}
      </summary>
      <ul class="rows checklist">
        <BaseURLItem replicas={replicas} />
        <MailItem replicas={replicas} />
        <OperatorsItem state={operators} />
        <BackupItem replicas={replicas} />
      </ul>
    </details>
  );
}
