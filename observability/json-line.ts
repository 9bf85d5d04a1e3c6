/**
 * Characters that JSON lets stand as they are and that some readers take for the end of a line: NEL
 * and its neighbours, line and paragraph separators.
 */
const separators = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * JSON text in which nothing but a line feed ends a line, anyone who reads it: the rest is escaped,
 * which changes no value.
 */
export const escapeSeparators = (json: string): string =>
  json.replaceAll(
    separators,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
