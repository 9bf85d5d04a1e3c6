import type { Alternative, FactChange } from './alternatives.js';

/** The words for each change, in English. */
const words: Readonly<Record<FactChange['fact'], (value: string | undefined) => string>> = {
  SignIn: (method) => (method === 'Again' ? 'after signing in again' : signInWords[method!]!),
  KnownBrowser: () => 'from a browser that signed in to this account before',
  Network: (network) =>
    network === undefined ? 'from another network' : `from the network ${network}`,
  Group: (group) => `in group ${group}`,
  NotInGroup: (group) => `outside of group ${group}`,
  EmailDomain: (domain) => `with an address at ${domain ?? 'another domain'}`,
  Passkeys: (count) => `with ${count} ${count === '1' ? 'passkey' : 'passkeys'}`,
  Invitation: () => 'with an invitation',
  Time: (time) => `from ${time} on`,
};

const signInWords: Readonly<Record<string, string>> = {
  EmailCode: 'signed in by an emailed code',
  EmailLink: 'signed in by an emailed link',
  Passkey: 'signed in with a passkey',
};

/** Returns the changes of an alternative in English: `in group staff and from another network`. */
export const describeChanges = (changes: readonly FactChange[]): string =>
  changes.map(({ fact, value }) => words[fact](value)).join(' and ');

/** Returns alternatives as one sentence in English; undefined if there are none. */
export const describeAlternatives = (alternatives: readonly Alternative[]): string | undefined =>
  alternatives.length === 0
    ? undefined
    : `It would be permitted ${alternatives.map(({ message }) => message).join(', or ')}.`;
