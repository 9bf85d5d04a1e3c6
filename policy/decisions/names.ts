import { randomName } from '../../registry/store/random-name.js';

/** The prefix of decisions without an account; no account has this name. */
const noAccount = 'd';

/** The alphabet of names, in key order. */
const letters = '2456789bcdfghjklmnpqrstvwxz';
const digits = 9;

/**
 * Returns the name of one decision made at `now` (ms since the epoch). Later names sort first, and
 * reveal only the time that the object shows anyway.
 */
export const singleEventName = (account: string | undefined, now: number): string =>
  `${account ?? noAccount}-${reverseTimestamp(now)}${randomName(12)}`;

/** Returns the range of an account's single decisions, which follow its series. */
export const singleEventRange = (
  account: string,
): { readonly start: string; readonly end: string } => ({
  start: `${account}-1`,
  end: `${account}.`,
});

/**
 * Returns the name of a series from the hash of its key. Series sort before single decisions, since
 * they never end.
 */
export const seriesName = (account: string | undefined, hash: string): string =>
  `${account ?? noAccount}-0${hash}`;

/** Encodes a time so that later times sort first. */
function reverseTimestamp(now: number): string {
  let remainder = letters.length ** digits - 1 - now;
  let text = '';
  for (let i = 0; i < digits; i += 1) {
    text = letters[remainder % letters.length] + text;
    remainder = Math.floor(remainder / letters.length);
  }
  return text;
}
