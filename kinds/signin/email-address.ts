import { z } from 'zod';
import { describePattern } from '../../registry/pattern.js';
import type { Cause } from '../../registry/status.js';

/**
 * An address in the ASCII grammar this service takes: dot-atom (RFC 5322 §3.2.3), at most 64 + 255
 * characters, a dotted domain of letters, digits and inner hyphens.
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

/** Whether the parts of an address of that grammar are within their lengths. */
export function isWithinLengths(address: string): boolean {
  const at = address.lastIndexOf('@');
  return at <= 64 && address.length - at - 1 <= 255;
}

/**
 * What mail servers and commands may take for something other than a name: routes (`%`, `!`),
 * encoded words (`=?`, RFC 2047), options (a leading `-`).
 */
const ambiguous = /[%!]|=\?|^-/;

/**
 * Why an address may not become one of an account or a group, as a cause at `field`; none where it
 * may. Accounts that have such an address keep it.
 */
export const newAddressFaults = (address: string, field: string): Cause[] =>
  ambiguous.test(address)
    ? [
        {
          reason: 'FieldValueInvalid',
          field,
          message:
            'Invalid value: must be an email address without %, ! and =? that does not begin with -',
        },
      ]
    : [];

/** How addresses are compared: both parts in lower case; `a+x@` is not `a@`. */
export const canonical = (address: string): string => address.toLowerCase();
