import type { ApiClient, ApiObject } from './connection/api-client.js';
import { formatTable } from './output/columns.js';

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
const maxRows = 50;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Describes the impact of a policy: a sentence, then a row for each decision that changes. */
export async function describeImpact(
  service: Pick<ApiClient, 'requestAPI'>,
  policy: ApiObject,
): Promise<string> {
  const impact = policy.status.impact as Impact;
  const { nowRefused, nowAllowed, unnamed = { nowRefused: 0, nowAllowed: 0 } } = impact;
  const [refusedCount, allowedCount] = [
    nowRefused.length + unnamed.nowRefused,
    nowAllowed.length + unnamed.nowAllowed,
  ];
  const lines = [
    `${plural(refusedCount + allowedCount, 'recorded decision')} of ${impact.replayed} would change: ${refusedCount} refused, ${allowedCount} allowed. No policy was activated.`,
    ...(impact.undecidable > 0
      ? [`${plural(impact.undecidable, 'decision')} could not be evaluated.`]
      : []),
    ...(impact.notReached
      ? [`${plural(impact.notReached, 'decision')} were not reached in time.`]
      : []),
  ];
  const changes = [
    ...nowRefused.map((name) => ['refused', name]),
    ...nowAllowed.map((name) => ['allowed', name]),
  ] as [string, string][];
  const rows = await Promise.all(
    changes
      .slice(0, maxRows)
      .map(async ([outcome, name]) =>
        formatRow(
          outcome,
          name,
          await service.requestAPI('GET', `policydecisions/${name}`).catch(() => undefined),
        ),
      ),
  );
  const restCount = refusedCount + allowedCount - rows.length;
  return `${lines.join('\n')}\n${rows.length > 0 ? `\n${formatTable(['NOW', 'WHO', 'ACTION', 'ON', 'TIMES', 'LAST', 'DECISION'], rows)}` : ''}${restCount > 0 ? `and ${restCount} more\n` : ''}`;
}

function formatRow(outcome: string, name: string, decision: ApiObject | undefined): string[] {
  if (!decision) return [outcome, '?', '?', '?', '?', '?', name];
  const { principal, action, resource, scope, client } = decision.spec;
  const target = scope
    ? `${scope} to ${client}`
    : [resource?.kind, resource?.name].filter(Boolean).join('/') || client || '-';
  const { count, lastTimestamp } = decision.status;
  return [
    outcome,
    typeof principal === 'string' ? principal : JSON.stringify(principal),
    action,
    target,
    String(count),
    lastTimestamp,
    name,
  ];
}
