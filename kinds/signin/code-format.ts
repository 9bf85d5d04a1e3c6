import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Limits } from '../../registry/limits/limit-settings.js';
import { describePattern } from '../../registry/schema/pattern.js';

/**
 * Returns the schema of a code in the API: text, since what is wrong with it is answered together with
 * the tries that are left.
 */
export const emailedCodeSchema = () =>
  z
    .string()
    .max(64)
    .regex(describePattern(/^[^\u0000-\u0008]*$/, 'must be the digits of the code'))
    .describe('The emailed code: ASCII digits. Spaces and dashes between them do not count.');

/** Returns a code as the mail prints it, in groups, without what separates them. */
export const withoutSeparators = (code: string): string => code.replaceAll(/[\s\p{Pd}]/gu, '');

/** Returns whether a text is a code with that many digits. */
export const isCode = (code: string, length: number): boolean =>
  code.length === length && /^[0-9]*$/.test(code);

/** Returns the schema of the length of an emailed code. */
export const codeLength = () => z.number().int().describe('The number of digits of the code.');

/** Returns a new random code of `emailCodeDigits` digits, uniformly distributed. */
export const newCode = ({ emailCodeDigits }: Pick<Limits, 'emailCodeDigits'>): string =>
  String(randomInt(10 ** emailCodeDigits)).padStart(emailCodeDigits, '0');
