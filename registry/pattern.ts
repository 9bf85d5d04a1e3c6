const descriptions = new Map<string, string>();

/**
 * Registers the requirement of a pattern in words ("must be …") for error messages, and returns the
 * pattern.
 */
export function describePattern(pattern: RegExp, words: string): RegExp {
  descriptions.set(pattern.source, words);
  return pattern;
}

/** Returns the requirement of a pattern by its source, or undefined if none is registered. */
export const patternDescription = (source: string): string | undefined => descriptions.get(source);

/**
 * One line of text: no control characters, line or paragraph separators, or characters that change
 * the writing direction.
 */
export const lineOfText = describePattern(
  /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$/,
  'must be one line of text without control characters and without characters that change the direction of writing',
);
