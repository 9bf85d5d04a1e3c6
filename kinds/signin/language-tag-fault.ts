const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Tags of ISO 639 and ISO 15924, and regions of CLDR, that name nothing. */
const unknown = /^(?:und|mul|mis|zxx|root)\b|-(?:Zzzz|ZZ|XA|XB)\b/;

/**
 * Returns why a well-formed tag names no language (BCP 47), by the data of this Node.js; undefined
 * if it names one.
 */
export function languageTagFault(tag: string): string | undefined {
  return isKnown(tag) ? undefined : 'must be the tag of a known language such as en or de-CH';
}

function isKnown(tag: string): boolean {
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag);
    const { language } = new Intl.Locale(canonical);
    // Script, region and variants are named after any language; few languages have a name in CLDR.
    return (
      !unknown.test(canonical) &&
      names.of(`en${canonical.slice(language.length)}`) !== undefined &&
      (names.of(language) ?? new Intl.Locale(language).maximize().region) !== undefined
    );
  } catch {
    return false;
  }
}
