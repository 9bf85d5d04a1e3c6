import { z } from 'zod';
import type { KindObject } from '../../../registry/kind.js';
import { describePattern } from '../../../registry/schema/pattern.js';
import {
  httpsAddress,
  languageTag,
  line,
  timestamp,
  webAddress,
} from '../../signin/schema-types.js';

/** The setup steps that an account may still take. */
export const Missing = z.enum(['displayName', 'passkey']);

/** The profile of an account. */
export const AccountSpec = z.object({
  displayName: line(64)
    .optional()
    .describe('The name shown to the person and, with scope profile, to services.'),
  givenName: line(64).optional().describe('Given name.'),
  familyName: line(64).optional().describe('Family name.'),
  middleName: line(64).optional().describe('Middle names.'),
  nickname: line(64).optional().describe('Casual name.'),
  preferredUsername: line(64)
    .optional()
    .describe('The short name that the person prefers; not unique.'),
  profileURI: webAddress().optional().describe('The address of the profile page of the person.'),
  pictureURI: httpsAddress().optional().describe('The address of a picture, https only.'),
  websiteURI: webAddress().optional().describe('The address of the website of the person.'),
  gender: line(64).optional().describe('Gender, free text.'),
  locale: languageTag().optional().describe('Preferred language, BCP 47.'),
  timeZone: z
    .string()
    .max(64)
    .regex(
      describePattern(
        /^[A-Za-z][A-Za-z0-9+_-]*(\/[A-Za-z0-9+_-]+)*$/,
        'must be a time zone such as Europe/Zurich',
      ),
    )
    .optional()
    .describe('Time zone, as in the tz database.'),
  birthdate: z
    .string()
    .regex(
      describePattern(
        /^[0-9]{4}(-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))?$/,
        'must be a date such as 2000-01-31, or a year',
      ),
    )
    .optional()
    .describe('ISO 8601 date or year.'),
});

/** The status of an account. */
export const AccountStatus = z.object({
  disabledTimestamp: timestamp()
    .optional()
    .describe('When the account was disabled; no one can sign in to it.'),
  email: z
    .object({
      address: z.string().max(320).describe('The address as its owner entered it.'),
      verifiedTimestamp: timestamp()
        .optional()
        .describe(
          'When it was last verified. Absent until the first sign-in to an account that an ' +
            'operator created.',
        ),
    })
    .describe('The address of the account.'),
  setup: z
    .object({
      complete: z.boolean().describe('True if nothing is missing.'),
      missing: z.array(Missing).describe('What the setup still offers.'),
    })
    .describe('The state of the setup.'),
  passkeys: z.number().int().min(0).describe('The number of passkeys.'),
  lastSignInTimestamp: timestamp().optional().describe('The last sign-in.'),
  profileTimestamp: timestamp()
    .optional()
    .describe('When the spec last changed; absent if it never changed.'),
});

/** The part of an account that never leaves the server. */
export const AccountInternal = z.object({
  /** WebAuthn user handle, 64 random bytes, base64url. */
  userHandle: z.string(),
  /**
   * Sign-ins up to `seconds` (since the epoch) are invalid, except the session `kept`, which
   * revoked the others.
   */
  signedOut: z.object({ seconds: z.number().int(), kept: z.string().optional() }).optional(),
  /**
   * Sign-ins up to this time (ms since the epoch) that have no session yet are invalid: someone ended
   * a session of the account in another one.
   */
  signInsEnded: z.number().int().optional(),
  /** True if an operator created it, and thereby vouched for who first signs in at its address. */
  isVouchedFor: z.boolean().optional(),
  /** The time zone of the browser of the last sign-in by email: mails without a `spec.timeZone` use it. */
  timeZone: z.string().optional(),
  /**
   * How many times all tokens ended, of the command and of apps. A library Grant of an earlier count
   * is invalid, with its tokens and codes.
   */
  tokensEnded: z.object({ command: z.number().int(), apps: z.number().int() }).optional(),
});

/** An Account as the server holds it. */
export type AccountObject = KindObject<
  z.infer<typeof AccountSpec>,
  z.infer<typeof AccountStatus>,
  z.infer<typeof AccountInternal>
>;
