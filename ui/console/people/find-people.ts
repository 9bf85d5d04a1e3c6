import type { Account } from '../../api.js';
import { call } from '../../base/api/api.js';
import type { Kind } from '../base/kind.js';

/** Returns the selectors of a search: the service finds people by the beginning of each word. */
export const selectorsOf = (words: string): Record<string, string> => {
  const searches = words.split(/[\s,=!]+/).filter(Boolean);
  return searches.length === 0
    ? {}
    : { fieldSelector: searches.map((word) => `search=${word}`).join(',') };
};

const answers = new Map<string, Promise<readonly Account[]>>();

/** Reads the accounts that have an address, or the first with a name that begins so; each once. */
export function findPeople(accounts: Kind, words: string): Promise<readonly Account[]> {
  const known = answers.get(words);
  if (known) return known;
  const selectors = words.includes('@')
    ? { fieldSelector: `status.email.address=${words}` }
    : selectorsOf(words);
  const query = new URLSearchParams({ ...selectors, limit: '5' });
  const found = call<{ items: readonly Account[] }>('GET', `${accounts.path}?${query}`).then(
    ({ items }) => items,
  );
  answers.set(words, found);
  found.catch(() => answers.delete(words));
  return found;
}
