import { randomInt } from 'node:crypto';

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns random letters for names, uniform from the CSPRNG. */
export const randomName = (length: number): string =>
  Array.from({ length }, () => nameLetters[randomInt(nameLetters.length)]).join('');

/** Returns a free name with this prefix, cut to 58 characters, or after eight tries one that is taken. */
export async function freeName(
  prefix = '',
  isTaken: (name: string) => Promise<boolean>,
): Promise<string> {
  const base = prefix.slice(0, 58);
  let name = `${base}${randomName(5)}`;
  for (let tryCount = 1; tryCount < 8 && (await isTaken(name)); tryCount += 1) {
    name = `${base}${randomName(5)}`;
  }
  return name;
}
