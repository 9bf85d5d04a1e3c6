import { invalidValue, tooLongValue, tooManyItems } from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';

const maxLanguages = 32;

/** The length that RFC 5646 §4.4.1 recommends to provide for. */
const maxTagLength = 35;

/**
 * Returns the faults of a text in several languages: its number of languages, and tags that are not
 * in canonical form (RFC 5646 §4.5). There, no two tags differ in case alone.
 */
export function languageFaults(
  field: string,
  texts: Readonly<Record<string, string>> = {},
): Cause[] {
  const tags = Object.keys(texts);
  if (tags.length > maxLanguages) {
    return [
      tooManyItems(field, `must have at most ${maxLanguages} languages (got ${tags.length})`),
    ];
  }
  return tags.flatMap((tag) => tagFaults(`${field}.${tag}`, tag));
}

function tagFaults(field: string, tag: string): Cause[] {
  if (tag.length > maxTagLength) {
    return [
      tooLongValue(field, `the language tag may not be more than ${maxTagLength} characters`),
    ];
  }
  const canonical = canonicalTag(tag);
  if (canonical === undefined) {
    return [invalidValue(field, 'its name must be a language tag such as en or de-CH')];
  }
  return canonical === tag ? [] : [invalidValue(field, `the language tag must be ${canonical}`)];
}

/** Returns a language tag in canonical form (RFC 5646 §4.5); undefined for a text that is none. */
export function canonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
