/**
 * Returns a text without the user information of the URLs in it. Up to the last `@` before a space,
 * because people write passwords with slashes and further `@`.
 */
export const hideUserinfo = (text: string): string =>
  text.split(/(\s)/).map(withoutUserinfo).join('');

function withoutUserinfo(word: string): string {
  const start = word.indexOf('//');
  const end = word.lastIndexOf('@');
  return start === -1 || end < start ? word : `${word.slice(0, start)}//***${word.slice(end)}`;
}
