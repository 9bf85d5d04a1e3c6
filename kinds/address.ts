import { z } from 'zod';

/** An address in the ASCII grammar this service takes (`provider.md` 15): dot-atom, at most 64 + 255 characters, a dotted domain of letters, digits and inner hyphens. */
export const emailAddress = () => z.string().max(320)
  .regex(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,31}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,32}[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/);

/** Whether the parts of an address of that grammar are within their lengths. */
export function isWithinLengths(address: string): boolean {
  const at = address.lastIndexOf('@');
  return at <= 64 && address.length - at - 1 <= 255;
}

/** How addresses are compared: both parts in lower case; `a+x@` is not `a@`. */
export const canonical = (address: string): string => address.toLowerCase();
