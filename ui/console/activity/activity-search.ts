import type { Account } from '../../api.js';
import type { Kind } from '../base/kind.js';
import { readFirst } from '../base/first-pages.js';

/** What Activity shows: everything, sign-ins, what was changed, or what failed. */
export const segments = ['all', 'signins', 'changes', 'failed'] as const;
type Shown = (typeof segments)[number];

/** The conditions that the server applies, by their names in the address. */
export const conditions = {
  app: 'spec.client',
  network: 'status.request.network',
} as const;

/** Reads are counted, not listed: no one asks for them by time. */
const reads = ['get', 'list', 'watch', 'share'].map((verb) => `spec.action!=${verb}`);
/** Steps of sign-ins before a person is known share one record. */
const unknown = 'spec.principal!=Browser';

const reference = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Returns whether a text is a Reference that pages show: an Audit-ID. */
export const isReference = (text: string): boolean => reference.test(text);

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const ipv6 = /^[0-9a-f]{0,4}:[0-9a-f:]{1,39}(\/\d{1,3})?$/i;

/** The selectors of a search, and the words that rows must contain. */
export interface Search {
  readonly selectors: readonly string[];
  readonly words: string;
}

/** Returns how words are searched for: a Reference, a network and an address by the server. */
export async function searchFor(words: string, accounts: Kind | undefined): Promise<Search> {
  if (isReference(words)) {
    return { selectors: [`status.request.auditID=${words}`], words: '' };
  }
  if (ipv4.test(words) || ipv6.test(words)) {
    return { selectors: [`${conditions.network}=${words}`], words: '' };
  }
  if (words.includes('@') && accounts) {
    const fieldSelector = `status.email.address=${words}`;
    const { items } = await readFirst<Account>(accounts.path, { fieldSelector });
    if (items[0]) return { selectors: [`spec.account=${items[0].metadata.name}`], words: '' };
  }
  return { selectors: [], words };
}

/** Returns what the address of the view asks for. */
export const shownOf = (query: URLSearchParams): Shown =>
  segments.find((one) => one === query.get('show')) ?? 'all';

/** Returns the selectors for it. */
export function selectorsOf(query: URLSearchParams, { selectors }: Search): string[] {
  const chosen = Object.entries(conditions).flatMap(([name, field]) => {
    const value = query.get(name);
    return value ? `${field}=${value}` : [];
  });
  const narrowed: Readonly<Record<Shown, readonly string[]>> = {
    all: [...reads, unknown],
    signins: ['spec.action=signIn'],
    changes: [...reads, unknown, 'spec.action!=signIn'],
    failed: [...reads, unknown, 'status.outcome!=Done'],
  };
  return [
    ...selectors,
    ...chosen,
    ...(isReference(query.get('find') ?? '') ? [] : narrowed[shownOf(query)]),
  ];
}
