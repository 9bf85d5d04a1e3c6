const sentences = new Map<string, string>();

/**
 * Keeps what a pattern demands in words, for anyone who sent something else ("must be …"), and returns
 * the pattern.
 */
export function inWords(pattern: RegExp, words: string): RegExp {
  sentences.set(pattern.source, words);
  return pattern;
}

/** What a pattern of a schema demands, by its source; undefined where no one said it. */
export const wordsOf = (source: string): string | undefined => sentences.get(source);

/**
 * One line of text for people: no control characters, no line or paragraph separators, nothing that
 * changes the direction of writing.
 */
export const lineOfText = inWords(
  /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$/,
  'must be one line of text without control characters and without characters that change the direction of writing',
);
