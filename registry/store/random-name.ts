import { randomInt } from 'node:crypto';

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns random letters for names, uniform from the CSPRNG. */
export const randomName = (length: number): string =>
  Array.from({ length }, () => nameLetters[randomInt(nameLetters.length)]).join('');
