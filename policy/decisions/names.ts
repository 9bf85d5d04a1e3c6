import { randomName } from '../../registry/transaction.js';

/** What decisions that concern no account are named by: no account is called so. */
const anonymous = 'd';

/** The letters of names, in the order of keys. */
const letters = '2456789bcdfghjklmnpqrstvwxz';
const digits = 9;

/**
 * The name of one decision made at `now` (ms since the epoch): of two, the later comes first in a
 * list. It tells no more than its object's own time.
 */
export const singleName = (account: string | undefined, now: number): string =>
  `${account ?? anonymous}-${backwards(now)}${randomName(12)}`;

/** Where the names of an account's single decisions begin and end: behind its series. */
export const singlesOf = (account: string): { readonly start: string; readonly end: string } => ({
  start: `${account}-1`,
  end: `${account}.`,
});

/**
 * The name of a series, by the hash of what its decisions have in common: all come before the
 * single ones, since they are never over.
 */
export const seriesName = (account: string | undefined, hash: string): string =>
  `${account ?? anonymous}-0${hash}`;

/** A number that shrinks as time goes on, in letters. */
function backwards(now: number): string {
  let rest = letters.length ** digits - 1 - now;
  let text = '';
  for (let i = 0; i < digits; i += 1) {
    text = letters[rest % letters.length] + text;
    rest = Math.floor(rest / letters.length);
  }
  return text;
}
