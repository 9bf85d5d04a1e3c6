/**
 * What was typed or pasted, reduced to the digits of a code where one stands in it: spaces, dashes
 * and digits of other widths and scripts go.
 */
export function tidyCode(typed: string, length: number): string {
  const plain = typed
    .replace(/[٠-٩۰-۹０-９]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\s\p{Cf}\p{Pd}]/gu, '');
  return new RegExp(`(?<!\\d)\\d{${length}}(?!\\d)`).exec(plain)?.[0] ?? plain;
}

/** Whether this is what the API takes as a code of that length. */
export const isCode = (text: string, length: number): boolean =>
  text.length === length && /^\d+$/.test(text);

/** A whole code as people read it, in two groups; anything else as it is. */
export function inGroups(text: string, length: number): string {
  const half = Math.ceil(length / 2);
  return isCode(text, length) ? `${text.slice(0, half)} ${text.slice(half)}` : text;
}
