import type { ComponentChildren } from 'preact';
import type { Policy, Replica } from '../../api.js';
import { now } from '../../base/api/clock.js';
import { locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { formatDateTime } from '../../base/text/timestamp.js';
import type { MessageID } from '../../messages/catalog.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { ago } from './ago.js';
import { backupFinding, isMailMocked } from './checklist-rules.js';

const number = (count: number): string => new Intl.NumberFormat(locale()).format(count);

/** Returns a size in bytes in words, such as 4.1 MB. */
function bytesText(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: units[power]!,
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}

interface FigureProps {
  title: MessageID;
  /** A state that the figure stands for; it has a shape beside its colour. */
  state?: 'ok' | 'warn square' | undefined;
  hint: ComponentChildren;
  children: ComponentChildren;
}

const Figure = ({ title, state, hint, children }: FigureProps) => (
  <div>
    <dt>{t(title)}</dt>
    <dd>{state ? <span class={`state ${state}`}>{children}</span> : children}</dd>
    <dd class="hint">{hint}</dd>
  </div>
);

function Service({ replicas }: { replicas: readonly Replica[] }) {
  const unready = replicas.filter(({ status }) => !status.ready);
  const failed = new Set(unready.flatMap(({ status }) => status.failedChecks));
  const words = t('overview.ready', {
    ready: number(replicas.length - unready.length),
    count: number(replicas.length),
  });
  return (
    <Figure
      title="overview.service"
      state={unready.length > 0 ? 'warn square' : 'ok'}
      hint={<A to={pathTo('replicas')}>{words}</A>}
    >
      {unready.length > 0
        ? t('console.state.unready', { checks: [...failed].join(', ') })
        : t('overview.works')}
    </Figure>
  );
}

/** The largest copy of the store that a replica reports. */
function Store({ replicas }: { replicas: readonly Replica[] }) {
  const copies = replicas.flatMap(({ status }) => status.store.copies);
  const [largest] = copies.sort((a, b) => b.bytes - a.bytes);
  const { quotaBytes } = largest ?? {};
  const isFull = quotaBytes !== undefined && largest!.bytes > 0.8 * quotaBytes;
  return (
    <Figure
      title="console.state.store"
      state={isFull ? 'warn square' : undefined}
      hint={
        quotaBytes === undefined
          ? replicas[0]?.status.store.driver
          : t('overview.quota', { quota: bytesText(quotaBytes) })
      }
    >
      {largest ? bytesText(largest.bytes) : t('console.check.unknown')}
    </Figure>
  );
}

interface Mails {
  readonly sent: number;
  readonly failed: number;
}

const Mail = ({ replicas, mails }: { replicas: readonly Replica[]; mails: Mails | undefined }) => (
  <Figure
    title="console.check.mail"
    state={mails && mails.failed > 0 ? 'warn square' : undefined}
    hint={
      isMailMocked(replicas)
        ? t('overview.mail.mocked')
        : t('overview.mail.failed', { count: mails?.failed ?? 0 })
    }
  >
    {mails ? t('overview.mail.sent', { count: mails.sent }) : '…'}
  </Figure>
);

function Backup({ replicas }: { replicas: readonly Replica[] }) {
  const { isDone, last } = backupFinding(replicas, now());
  return (
    <Figure
      title="console.check.backup"
      state={isDone ? undefined : 'warn square'}
      hint={last === undefined ? t('overview.backup.none') : formatDateTime(last)}
    >
      {last === undefined ? t('console.none') : ago(last)}
    </Figure>
  );
}

/** The policies that replicas use: one, except while a new one is put in force. */
function InForce({
  replicas,
  policy,
}: {
  replicas: readonly Replica[];
  policy?: Policy | undefined;
}) {
  const names = [...new Set(replicas.flatMap(({ status }) => status.policy ?? []))];
  const since = policy?.metadata.creationTimestamp;
  return (
    <Figure
      title="console.policy"
      hint={since !== undefined && t('overview.policy.since', { when: ago(since) })}
    >
      {names.map((name) => (
        <A key={name} to={pathTo('policies', name)}>
          <bdi dir="ltr">{name}</bdi>
        </A>
      ))}
    </Figure>
  );
}

interface Props {
  replicas: readonly Replica[];
  mails: Mails | undefined;
  policy: Policy | undefined;
}

/** How the service is, in figures. */
export const StateFigures = ({ replicas, mails, policy }: Props) => (
  <dl class="figures panel">
    <Service replicas={replicas} />
    <Store replicas={replicas} />
    <Mail replicas={replicas} mails={mails} />
    <Backup replicas={replicas} />
    <InForce replicas={replicas} policy={policy} />
  </dl>
);
