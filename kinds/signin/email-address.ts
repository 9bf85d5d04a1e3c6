import { z } from 'zod';
import { describePattern } from '../../registry/schema/pattern.js';
import { duplicateValue, invalidValue } from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';

/**
 * Returns the schema of an email address in the accepted ASCII grammar: dot-atom (RFC 5322 §3.2.3),
 * at most 64 + 255 characters, a dotted domain of letters, digits and inner hyphens.
 */
export const emailAddress = () =>
  z
    .string()
    .max(320)
    .regex(
      describePattern(
        /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,31}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,32}[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
        'must be an email address',
      ),
    );

/** Returns true if local part and domain are within their lengths. */
export function isWithinLengths(address: string): boolean {
  const at = address.lastIndexOf('@');
  return at <= 64 && address.length - at - 1 <= 255;
}

/**
 * Characters that mail servers and commands may interpret: routes (`%`, `!`), pipes and commands
 * (`|`, a backtick), encoded words (`=?`, RFC 2047), options and files (a leading `-` or `/`).
 */
const ambiguous = /[%!|`]|=\?|^[-/]/;

/**
 * Returns a cause at `field` if an address may not become that of an account or a group, else none.
 * Accounts that already have such an address keep it.
 */
export const newAddressFaults = (address: string, field: string): Cause[] =>
  ambiguous.test(address)
    ? [
        invalidValue(
          field,
          'must be an email address without %, !, |, ` and =? that does not begin with - or /',
        ),
      ]
    : [];

/** Returns the form in which addresses are compared: lower case. `a+x@` differs from `a@`. */
export const canonicalAddress = (address: string): string => address.toLowerCase();

/**
 * Returns a cause for each address that is there before in another spelling. The schema finds the
 * same spelling. `fieldAt` returns the field of an address.
 */
export function repeatedAddresses(
  addresses: readonly string[],
  fieldAt: (index: number) => string,
): Cause[] {
  const seen = new Set<string>();
  return addresses.flatMap((address, i) => {
    const canonical = canonicalAddress(address);
    if (seen.has(canonical)) return [duplicateValue(fieldAt(i), JSON.stringify(address))];
    seen.add(canonical);
    return [];
  });
}

/** Returns the domain of an address, in lower case; an empty string if there is no address. */
export const domainOf = (address: string): string => {
  const canonical = canonicalAddress(address);
  return canonical.slice(canonical.lastIndexOf('@') + 1);
};
