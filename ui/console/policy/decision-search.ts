import { conditions, isReference, searchFor, type Search } from '../activity/activity-search.js';
import type { Kind } from '../base/kind.js';
import { valueIn } from '../table/filter.js';

/** What only reads; permitted reads are many, and people look for them by name. */
const reads = ['get', 'list', 'watch'].map((verb) => `spec.action!=${verb}`);
/** Steps of sign-ins before a person is known share one record. */
const unknown = 'spec.principal!=Browser';

/** Selects nothing: no account has this name. */
const noAccount = 'spec.account=-';

/**
 * Returns the conditions that are in force unless the address says otherwise: refusals are shown, or
 * what changes something. A Reference finds everything with it.
 */
export function usualOf(query: URLSearchParams): { result?: string; reads?: string } {
  if (isReference(query.get('find') ?? '')) return {};
  const result = query.get('result') ?? 'refused';
  return { result: 'refused', ...(result !== 'refused' && { reads: 'out' }) };
}

/** Returns the selector of a person, who is typed as an address or as the name of an account. */
async function personSelectors(person: string, accounts: Kind | undefined): Promise<string[]> {
  if (!person) return [];
  if (!person.includes('@')) return [`spec.account=${person}`];
  const { selectors } = await searchFor(person, accounts);
  return selectors.length > 0 ? [...selectors] : [noAccount];
}

/** Returns how the decisions that an address asks for are selected, and which words they must contain. */
export async function searchOf(
  query: URLSearchParams,
  accounts: Kind | undefined,
): Promise<Search> {
  const usual = usualOf(query);
  const [found, person] = await Promise.all([
    searchFor(query.get('find') ?? '', accounts),
    personSelectors(query.get('person') ?? '', accounts),
  ]);
  const app = query.get('app');
  const [kind, name] = query.get('object')?.split('/') ?? [];
  const rule = query.get('rule')?.trim().replace(/\s+/g, '-');
  const result = valueIn(query, { id: 'result', usual: usual.result });
  const isOut = valueIn(query, { id: 'reads', usual: usual.reads }) === 'out';
  const outcome = { refused: '!=', allowed: '=' }[result ?? ''];
  return {
    words: found.words,
    selectors: [
      ...found.selectors,
      ...person,
      ...(app ? [`${conditions.app}=${app}`] : []),
      ...(kind ? [`spec.resource.kind=${kind}`] : []),
      ...(name ? [`spec.resource.name=${name}`] : []),
      ...(rule ? [`status.reasons.rule=${rule}`] : []),
      ...(outcome ? [`status.outcome${outcome}Done`] : []),
      ...(isOut ? [...reads, unknown] : []),
    ],
  };
}
