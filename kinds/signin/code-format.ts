import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { describePattern } from '../../registry/pattern.js';
import type { Limits } from '../../registry/limit-settings.js';

/** The code of a request, in the API: as many ASCII digits as the mail had, and nothing else. */
export const emailedCode = () =>
  z
    .string()
    .regex(describePattern(/^[0-9]{6,8}$/, 'must be the digits of the code'))
    .describe('The emailed code: its digits, without spaces.');

/** How long the code in a mail is, for pages that ask for it. */
export const codeLength = () => z.number().int().describe('How many digits the code has.');

/** Returns a code that is drawn again, uniform over its digits. */
export const newCode = ({ emailCodeDigits }: Pick<Limits, 'emailCodeDigits'>): string =>
  String(randomInt(10 ** emailCodeDigits)).padStart(emailCodeDigits, '0');
