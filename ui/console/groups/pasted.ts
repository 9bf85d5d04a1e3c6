import type { Account } from '../../api.js';
import { membershipOf, type Group } from '../../base/group.js';
import type { Kind } from '../base/kind.js';
import { findPeople } from '../people/find-people.js';

/** What was found for one name or address of a pasted text. */
export interface Entry {
  /** The text as it was pasted. */
  readonly text: string;
  /** The address to add, if the text has one. */
  readonly address?: string;
  readonly state: 'found' | 'member' | 'absent';
  /** The people that a name may mean. */
  readonly people: readonly Account[];
}

/** How many people are looked for at the same time. */
const concurrency = 4;

/** Returns the names and addresses of a text: one a line, or between commas, semicolons or tabs. */
export const piecesOf = (text: string): string[] => [
  ...new Map(
    text
      .split(/[\n\r\t,;]+/)
      .map((piece) => piece.trim())
      .filter(Boolean)
      .map((piece) => [piece.toLowerCase(), piece]),
  ).values(),
];

/** Returns the address in a piece such as `Ada <ada@example.org>`, or undefined in a name. */
const addressIn = (piece: string): string | undefined =>
  /<([^<>\s@]+@[^<>\s@]+)>/.exec(piece)?.[1] ??
  (/^[^\s@]+@[^\s@]+$/.test(piece) ? piece : undefined);

async function readEntry(accounts: Kind, group: Group, text: string): Promise<Entry> {
  const address = addressIn(text);
  if (address === undefined) {
    return { text, state: 'absent', people: await findPeople(accounts, text) };
  }
  if (membershipOf(group, address)) return { text, address, state: 'member', people: [] };
  const people = await findPeople(accounts, address);
  return { text, address, state: people.length > 0 ? 'found' : 'absent', people };
}

/** Finds whom a pasted text names, in its order. */
export async function readEntries(
  accounts: Kind,
  group: Group,
  pieces: readonly string[],
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const remaining = pieces.entries();
  const work = async (): Promise<void> => {
    for (const [i, text] of remaining) entries[i] = await readEntry(accounts, group, text);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return entries;
}
