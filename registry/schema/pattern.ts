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

/** What a line of text must be, in words. */
export const lineRequirement =
  'must be one line of text without invisible characters, characters that change the direction of writing, and blank ones other than the space';

/**
 * Marks a field as a line of text that people read and compare. The whole rule is `lineFault`,
 * which every validator applies to such fields; the pattern is the part that others can check.
 */
export const lineOfText = describePattern(
  /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$/,
  lineRequirement,
);
