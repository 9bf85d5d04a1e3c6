import { invalidValue } from '../../registry/field-errors.js';
import type { Cause } from '../../registry/status.js';

const maxLanguages = 32;

/**
 * Returns the faults of a text in several languages: its number of languages, and tags that are not
 * in canonical form (RFC 5646 §4.5), so that no language can be there twice.
 */
export function textFaults(
  field: string,
  texts: Readonly<Record<string, string>> | undefined,
): Cause[] {
  if (texts === undefined) return [];
  const tags = Object.keys(texts);
  if (tags.length === 0 || tags.length > maxLanguages)
    return [invalidValue(field, `must have 1 to ${maxLanguages} languages (got ${tags.length})`)];
  return tags.flatMap((tag) => {
    const canonical = canonicalTag(tag);
    if (canonical === tag) return [];
    const advice =
      canonical === undefined
        ? 'its name must be a language tag such as en or de-CH'
        : `the language tag must be ${canonical}`;
    return [invalidValue(`${field}.${tag}`, advice)];
  });
}

/** Returns the canonical form of a tag of at most 35 characters (RFC 5646 §4.4.1). */
function canonicalTag(tag: string): string | undefined {
  if (tag.length > 35) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
