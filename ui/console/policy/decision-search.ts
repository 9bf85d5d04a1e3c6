import type { PolicyDecision } from '../../api.js';
import { idToWords } from '../../decisions/id-words.js';

/** What a person searches decisions for; an empty text is no condition. */
export interface DecisionSearch {
  /** The address or the name of an account. */
  readonly person: string;
  readonly app: string;
  readonly rule: string;
  readonly result: string;
  /** The age in days. */
  readonly days: string;
}

const fields = ['person', 'app', 'rule', 'result', 'days'] as const;

/** Returns the search that an address contains. */
export const searchOf = (query: URLSearchParams): DecisionSearch =>
  Object.fromEntries(
    fields.map((field) => [field, query.get(field) ?? '']),
  ) as unknown as DecisionSearch;

/** Returns the query of the address that contains a search. */
export function queryOf(search: DecisionSearch): string {
  const filled = fields.filter((field) => search[field].trim());
  const query = new URLSearchParams(filled.map((field) => [field, search[field].trim()]));
  return filled.length ? `?${query}` : '';
}

/** Returns whether one of the texts contains the words, in any case; no words match all. */
function includesWords(texts: readonly (string | undefined)[], words: string): boolean {
  const wanted = words.trim().toLowerCase();
  return !wanted || texts.some((text) => text?.toLowerCase().includes(wanted));
}

function appsOf({ spec }: PolicyDecision): (string | undefined)[] {
  const { client, resource, input } = spec;
  return [client, input.facts.client, resource?.kind === 'Client' ? resource.name : undefined];
}

/** Returns whether a decision is one of those searched for; the person is not compared. */
export function matchesSearch(
  decision: PolicyDecision,
  { app, rule, result, days }: DecisionSearch,
  { client }: { readonly client: (name: string) => string },
  now: number,
): boolean {
  const { status } = decision;
  const apps = appsOf(decision);
  const rules = status.reasons.map((reason) => reason.rule);
  return (
    includesWords([...apps, ...apps.map((name) => name && client(name))], app) &&
    includesWords([...rules, ...rules.map(idToWords)], rule) &&
    (!result || status.allowed === (result === 'allowed')) &&
    (!days || now - Date.parse(status.lastTimestamp) <= Number(days) * 86_400_000)
  );
}
