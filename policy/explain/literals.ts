import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { dayMs, hourMs, minuteMs, secondMs } from '../../registry/schema/units.js';
import { childrenOf, formOf } from '../parse/ast.js';
import { namedIn, type Rule } from '../parse/rules.js';

/** What rules compare facts with. */
export interface Literals {
  readonly groups: readonly string[];
  readonly strings: readonly string[];
  /** Patterns of `like`, each with `*` where anything may be. */
  readonly patterns: readonly string[];
  readonly numbers: readonly number[];
  /** In CIDR notation. */
  readonly networks: readonly string[];
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
  /** Milliseconds. */
  readonly durations: readonly number[];
}

/** Returns what rules compare facts with. */
export function literalsIn(rules: readonly Rule[]): Literals {
  const numbers = new Set<number>();
  const extensions = {
    ip: new Set<string>(),
    datetime: new Set<string>(),
    duration: new Set<string>(),
  };
  const patterns = new Set<string>();
  const visit = (expression: Expr): void => {
    const [form, body] = formOf(expression);
    const isExtension = Object.hasOwn(extensions, form) && typeof body[0]?.Value === 'string';
    if (isExtension) extensions[form as keyof typeof extensions].add(body[0].Value);
    if (form === 'Value' && typeof body === 'number') numbers.add(body);
    if (form === 'like') patterns.add(textOf(body.pattern));
    childrenOf(expression).forEach(visit);
  };
  for (const { conditions } of rules) conditions.forEach(visit);
  const { entityIds, stringLiterals } = namedIn(rules);
  const groups = ['Group', 'ClusterGroup'].flatMap((type) => entityIds.get(type) ?? []);
  return {
    groups: [...new Set(groups)],
    strings: stringLiterals,
    patterns: [...patterns],
    numbers: [...numbers],
    networks: [...extensions.ip],
    times: [...extensions.datetime].map((text) => Date.parse(text)).filter(Number.isFinite),
    durations: [...extensions.duration].map(durationOf),
  };
}

type Pattern = readonly ('Wildcard' | { readonly Literal: string })[];

const textOf = (pattern: Pattern): string =>
  pattern.map((part) => (part === 'Wildcard' ? '*' : part.Literal)).join('');

const unitsMs: Readonly<Record<string, number>> = {
  d: dayMs,
  h: hourMs,
  m: minuteMs,
  s: secondMs,
  ms: 1,
};

/** Returns a Cedar duration, such as `-1d2h`, in milliseconds. */
function durationOf(text: string): number {
  const parts = [...text.matchAll(/(\d{1,19})(ms|[dhms])/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitsMs[unit!]!, 0);
  return text.startsWith('-') ? -total : total;
}
