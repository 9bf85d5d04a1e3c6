/**
 * Characters that JSON does not escape and that some readers treat as line ends: NEL and its
 * neighbours, line and paragraph separators.
 */
const separators = /[\u007f-\u009f\u2028\u2029]/g;

/** Escapes line separators in JSON text, so that only a line feed ends a line. No value changes. */
export const escapeSeparators = (json: string): string =>
  json.replaceAll(
    separators,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
