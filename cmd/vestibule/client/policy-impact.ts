import type { ApiClient, Thing } from './api-client.js';
import { table } from './columns.js';

/** The outcome of recorded decisions under a new policy (docs/design/api.md#policy-dry-run). */
interface Impact {
  readonly replayed: number;
  readonly unchanged: number;
  readonly undecidable: number;
  readonly notReached?: number;
  readonly nowRefused: readonly string[];
  readonly nowAllowed: readonly string[];
  readonly unnamed?: { readonly nowRefused: number; readonly nowAllowed: number };
}

/** The number of decisions that are looked up and printed. */
const shown = 50;

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** Describes the impact of a policy: a sentence, then a row for each decision that changes. */
export async function describeImpact(
  service: Pick<ApiClient, 'ask'>,
  policy: Thing,
): Promise<string> {
  const impact = policy.status.impact as Impact;
  const { nowRefused, nowAllowed, unnamed = { nowRefused: 0, nowAllowed: 0 } } = impact;
  const [refused, allowed] = [
    nowRefused.length + unnamed.nowRefused,
    nowAllowed.length + unnamed.nowAllowed,
  ];
  const lines = [
    `${plural(refused + allowed, 'recorded decision')} of ${impact.replayed} would change: ${refused} refused, ${allowed} allowed. No policy was activated.`,
    ...(impact.undecidable > 0
      ? [`${plural(impact.undecidable, 'decision')} could not be evaluated.`]
      : []),
    ...(impact.notReached
      ? [`${plural(impact.notReached, 'decision')} were not reached in time.`]
      : []),
  ];
  const flips = [
    ...nowRefused.map((name) => ['refused', name]),
    ...nowAllowed.map((name) => ['allowed', name]),
  ] as [string, string][];
  const rows = await Promise.all(
    flips
      .slice(0, shown)
      .map(async ([now, name]) =>
        row(now, name, await service.ask('GET', `policydecisions/${name}`).catch(() => undefined)),
      ),
  );
  const rest = refused + allowed - rows.length;
  return `${lines.join('\n')}\n${rows.length > 0 ? `\n${table(['NOW', 'WHO', 'ACTION', 'ON', 'TIMES', 'LAST', 'DECISION'], rows)}` : ''}${rest > 0 ? `and ${rest} more\n` : ''}`;
}

function row(now: string, name: string, decision: Thing | undefined): string[] {
  if (!decision) return [now, '?', '?', '?', '?', '?', name];
  const { principal, action, resource, scope, client } = decision.spec;
  const on = scope
    ? `${scope} to ${client}`
    : [resource?.kind, resource?.name].filter(Boolean).join('/') || client || '-';
  const { count, lastTimestamp } = decision.status;
  return [
    now,
    typeof principal === 'string' ? principal : JSON.stringify(principal),
    action,
    on,
    String(count),
    lastTimestamp,
    name,
  ];
}
