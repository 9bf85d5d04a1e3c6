import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defineKind, type ObjectOf } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { enqueueDeletion } from './deletion-row.js';
import { canonical } from '../signin/email-address.js';
import { ownChanges } from '../signin/update-limit.js';
import { line, timestamp, webAddress } from '../signin/schema-types.js';
import { describePattern } from '../../registry/pattern.js';

/** What setup may still ask for. */
export const Missing = z.enum(['displayName', 'passkey']);

/**
 * A person, known by a proven address. Its name is 20 random characters, never reused, and is the
 * `sub` claim.
 */
export const Account = defineKind({
  kind: 'Account',
  resource: 'accounts',
  shortNames: ['acct'],
  owner: 'metadata.name',
  cached: true,
  nameSource: 'service',
  changeLimit: ownChanges,
  description: 'A person who signs in, known by an address they proved to hold.',
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
      .describe('Short name the person wants to be referred to by; not unique.'),
    profileURI: webAddress()
      .optional()
      .describe('A page about the person, such as their profile at a forge.'),
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
      .describe('Address of a picture, https only.'),
    website: webAddress().optional().describe('The person’s own page.'),
    gender: line(64).optional().describe('Gender, in the person’s own word.'),
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
    disabledTimestamp: timestamp().optional().describe('Since when no one can sign in to it.'),
    email: z
      .object({
        address: z.string().max(320).describe('The address as its owner spelt it.'),
        verifiedTimestamp: timestamp().describe('When it was last proven.'),
      })
      .describe('The proven address.'),
    setup: z
      .object({
        complete: z.boolean().describe('Nothing is missing.'),
        missing: z.array(Missing).describe('What setup may still ask for.'),
      })
      .describe('How far the account is set up.'),
    passkeys: z.number().int().min(0).describe('How many passkeys there are.'),
    lastSignInTimestamp: timestamp().optional().describe('The last sign-in.'),
    profileTimestamp: timestamp()
      .optional()
      .describe('When the spec last changed; absent where it never did.'),
  }),
  internal: z.object({
    /** WebAuthn user handle, 64 random bytes, base64url. */
    userHandle: z.string(),
    /**
     * Sign-ins up to then (seconds since the epoch) count no more, except the session that ended
     * the others.
     */
    signedOut: z.object({ seconds: z.number().int(), kept: z.string().optional() }).optional(),
  }),
  unique: {
    email: ({ metadata, status }) =>
      metadata.deletionTimestamp ? undefined : canonical(status.email.address),
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
     * No one can sign in to it from this commit on, and its address is free; everything it owns
     * goes afterwards, itself last.
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
      await enqueueDeletion(tx, call, { account: old.metadata.name, why: 'Deleted' });
      if (isOwn) tx.after(() => call.ports.forgetCookies());
    },
  },
});

/** Who someone is, as a sign-in shows it. */
export const accountSummary = ({ metadata, spec, status }: ObjectOf<typeof Account>) => ({
  name: metadata.name,
  email: status.email.address,
  setup: status.setup,
  ...(spec.displayName && { displayName: spec.displayName }),
});
