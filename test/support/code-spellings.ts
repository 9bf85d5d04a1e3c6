/** How people type a code between its two halves, which mails print apart. */
export const codeSpellings: readonly (readonly [how: string, between: string])[] = [
  ['as the mail prints it', ' '],
  ['with a space of fixed width', '\u00a0'],
  ['with a dash', '-'],
  ['with another dash', ' – '],
  ['with a line break', '\n'],
];
