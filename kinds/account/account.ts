import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defineKind, type ObjectOf } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { enqueueDeletion } from './deletion-row.js';
import { canonicalAddress } from '../signin/email-address.js';
import { updateLimit } from '../signin/update-limit.js';
import { line, timestamp, webAddress } from '../signin/schema-types.js';
import { describePattern } from '../../registry/pattern.js';

/** The setup steps that an account may still take. */
export const Missing = z.enum(['displayName', 'passkey']);

/**
 * A person, identified by a verified address. The name is 20 random characters, is never reused,
 * and is the `sub` claim.
 */
export const Account = defineKind({
  kind: 'Account',
  resource: 'accounts',
  shortNames: ['acct'],
  owner: 'metadata.name',
  cached: true,
  nameSource: 'service',
  changeLimit: updateLimit,
  description: 'A person who signs in, identified by a verified email address.',
  verbs: ['get', 'list', 'watch', 'patch', 'update', 'delete'],
  spec: z.object({
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
    pictureURI: z
      .string()
      .max(2048)
      .regex(
        describePattern(
          /^https:\/\/[^\s"'<>\\^`{|}\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+$/,
          'must be an https address',
        ),
      )
      .optional()
      .describe('The address of a picture, https only.'),
    website: webAddress().optional().describe('The address of the website of the person.'),
    gender: line(64).optional().describe('Gender, free text.'),
    locale: z
      .string()
      .max(35)
      .regex(
        describePattern(
          /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
          'must be a language tag such as en or de-CH',
        ),
      )
      .optional()
      .describe('Preferred language, BCP 47.'),
    zoneinfo: z
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
  }),
  status: z.object({
    disabledTimestamp: timestamp()
      .optional()
      .describe('When the account was disabled; no one can sign in to it.'),
    email: z
      .object({
        address: z.string().max(320).describe('The address as its owner entered it.'),
        verifiedTimestamp: timestamp().describe('When it was last verified.'),
      })
      .describe('The verified address.'),
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
  }),
  internal: z.object({
    /** WebAuthn user handle, 64 random bytes, base64url. */
    userHandle: z.string(),
    /**
     * Sign-ins up to `seconds` (since the epoch) are invalid, except the session `kept`, which
     * revoked the others.
     */
    signedOut: z.object({ seconds: z.number().int(), kept: z.string().optional() }).optional(),
  }),
  unique: {
    email: ({ metadata, status }) =>
      metadata.deletionTimestamp ? undefined : canonicalAddress(status.email.address),
  },
  columns: {
    Email: (account) => account.status.email.address,
    Disabled: (account) => account.status.disabledTimestamp !== undefined,
    Passkeys: (account) => account.status.passkeys,
  },
  strategy: {
    beforeCommit(_tx, next, old, { now }) {
      if (!next) return;
      if (old && !isDeepStrictEqual(old.spec, next.spec))
        next.status.profileTimestamp = toTimestamp(now);
      const missing: z.infer<typeof Missing>[] = [];
      if (!next.spec.displayName) missing.push('displayName');
      if (next.status.passkeys === 0) missing.push('passkey');
      next.status.setup = { complete: missing.length === 0, missing };
    },
    /**
     * This commit blocks sign-ins and frees the address. A worker deletes the owned objects
     * afterwards, and the account last.
     */
    async beginDelete(tx, old, call) {
      const isOwn = call.caller.type === 'Account' && call.caller.account === old.metadata.name;
      requireRecentAuthentication(
        call,
        Account,
        old.metadata.name,
        isOwn ? old.status.passkeys : undefined,
      );
      if (old.metadata.deletionTimestamp) return;
      await tx.update(Account, old.metadata.name, ({ metadata }) => {
        metadata.deletionTimestamp = toTimestamp(call.now);
      });
      await enqueueDeletion(tx, call, { account: old.metadata.name, why: 'Deleted' }, old.spec);
      if (isOwn) tx.after(() => call.ports.clearSessionCookie());
    },
  },
});

/** Returns the account as a sign-in shows it. */
export const accountSummary = ({ metadata, spec, status }: ObjectOf<typeof Account>) => ({
  name: metadata.name,
  email: status.email.address,
  setup: status.setup,
  ...(spec.displayName && { displayName: spec.displayName }),
});
