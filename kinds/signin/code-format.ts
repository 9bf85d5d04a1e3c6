import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { describePattern } from '../../registry/pattern.js';
import type { Limits } from '../../registry/limit-settings.js';

/** Returns the schema of a code in the API: 6 to 8 ASCII digits. */
export const emailedCodeSchema = () =>
  z
    .string()
    .regex(describePattern(/^[0-9]{6,8}$/, 'must be the digits of the code'))
    .describe('The emailed code, digits only.');

/** Returns the schema of the length of an emailed code. */
export const codeLength = () => z.number().int().describe('The number of digits of the code.');

/** Returns a new random code of `emailCodeDigits` digits, uniformly distributed. */
export const newCode = ({ emailCodeDigits }: Pick<Limits, 'emailCodeDigits'>): string =>
  String(randomInt(10 ** emailCodeDigits)).padStart(emailCodeDigits, '0');
