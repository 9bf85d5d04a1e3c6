/** What was typed or pasted, reduced to six ASCII digits where six stand in it: spaces, dashes and digits of other widths and scripts go. */
export function tidyCode(typed: string): string {
  const plain = typed.replace(/[٠-٩۰-۹０-９]/g, (digit) => String(digit.charCodeAt(0) & 15)).replace(/[\s\p{Cf}\p{Pd}]/gu, '');
  return /(?<!\d)\d{6}(?!\d)/.exec(plain)?.[0] ?? plain;
}

/** Whether this is what the API takes as a code. */
export const isCode = (text: string): boolean => /^\d{6}$/.test(text);
