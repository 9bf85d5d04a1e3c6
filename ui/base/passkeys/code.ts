/**
 * Reduces typed or pasted text to the digits of a code if it contains one. Removes spaces and
 * dashes and converts digits of other widths and scripts.
 */
export function tidyCode(typed: string, length: number): string {
  const plain = typed
    .replace(/[٠-٩۰-۹０-９]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\s\p{Cf}\p{Pd}]/gu, '');
  return new RegExp(`(?<!\\d)\\d{${length}}(?!\\d)`).exec(plain)?.[0] ?? plain;
}

/** Returns whether the text is a code of that length in the API's form. */
export const isCode = (text: string, length: number): boolean =>
  text.length === length && /^\d+$/.test(text);

/** Returns a complete code in two groups of digits, and any other text unchanged. */
export function inGroups(text: string, length: number): string {
  const half = Math.ceil(length / 2);
  return isCode(text, length) ? `${text.slice(0, half)} ${text.slice(half)}` : text;
}
