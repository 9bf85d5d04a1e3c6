import { z } from 'zod';
import { defineKind } from '../../registry/kind.js';
import { Challenges } from '../signin/passkey-challenge.js';
import { timestamp } from '../signin/schema-types.js';

/** Ways to sign in. */
export const Method = z.enum(['EmailCode', 'EmailLink', 'Passkey']);
export type Method = z.infer<typeof Method>;

const SignOut = z.object({
  clients: z
    .array(
      z.object({
        name: z.string().describe('Client.'),
        state: z
          .enum(['Notified', 'Retrying', 'GaveUp', 'Unsupported'])
          .describe('Whether it was told.'),
      }),
    )
    .describe('Each Client and whether it was told.'),
});
/** What becomes of each Client of a session that ends. */
export type SignOut = z.infer<typeof SignOut>;

/**
 * Where someone is signed in: a projection of the provider's own session, written in the same
 * commit as it.
 */
export const Session = defineKind({
  kind: 'Session',
  resource: 'sessions',
  shortNames: ['sess'],
  owner: 'status.account',
  cached: true,
  nameSource: 'service',
  description: 'A browser in which an account is signed in.',
  verbs: ['get', 'list', 'watch', 'delete', 'deletecollection'],
  spec: z.object({}),
  status: z.object({
    account: z.string().describe('The Account signed in.'),
    current: z.boolean().describe('It is the session this request came with.'),
    authenticationTimestamp: timestamp().describe('The last proof of who it is.'),
    methods: z.array(Method).describe('How that proof was given.'),
    assurance: z.string().describe('The acr claim.'),
    client: z
      .object({
        browser: z.string().max(64).describe('Browser, as its user agent says.'),
        os: z.string().max(64).describe('Operating system, as the user agent says.'),
        device: z.string().max(64).describe('Desktop, Phone, Tablet or Other.'),
      })
      .describe('What it was used from.'),
    lastUsedTimestamp: timestamp().describe('Last use at a Client, to within five minutes.'),
    expirationTimestamp: timestamp().describe('When it ends unless it is used again.'),
    clients: z
      .array(
        z.object({
          name: z.string().describe('Client.'),
          displayName: z.string().describe('Its name for people.'),
        }),
      )
      .describe('Clients signed in to from here.'),
    recentEvents: z
      .array(
        z.object({
          type: z
            .enum(['SignedIn', 'SignedInAgain', 'CodeIssued', 'TokensIssued'])
            .describe('What happened.'),
          timestamp: timestamp().describe(
            'When; a code and tokens for one Client within five minutes are one event.',
          ),
          method: Method.optional().describe('How the person signed in.'),
          browser: z
            .string()
            .max(160)
            .optional()
            .describe('The browser in which they did, as its user agent says.'),
          client: z
            .string()
            .optional()
            .describe('The Client that the code or tokens were issued to.'),
        }),
      )
      .max(10)
      .optional()
      .describe(
        'What happened in it, oldest first: the last ten events. Absent in sessions that an earlier release began.',
      ),
    signOut: SignOut.optional().describe('Present while the session is being ended.'),
  }),
  internal: z.object({
    /**
     * Storage key of the library's session, so that a sign-out deletes it without its cookie's
     * value.
     */
    recordKey: z.string(),
    /** SHA-256 (base64url) of the library's uid: what codes and tokens of this session point to. */
    uidDigest: z.string(),
    loginSeconds: z.number().int(),
    epoch: z.number().int(),
    expires: z.number().int(),
    passkeyChallenges: Challenges.optional(),
  }),
  expires: (session) => session.internal.expires,
  columns: {
    Account: (session) => session.status.account,
    Device: (session) =>
      [session.status.client.browser, session.status.client.os].filter(Boolean).join(' on '),
    Methods: { wide: (session) => session.status.methods.join(',') },
  },
  strategy: {
    status(session, { caller }) {
      session.status.current =
        caller.type === 'Account' && caller.session === session.metadata.name;
    },
    async beginDelete(tx, old, call) {
      const ending = await call.ports.endSessions([old]);
      tx.add(ending);
      if (call.caller.type === 'Account' && call.caller.session === old.metadata.name)
        tx.after(() => call.ports.forgetCookies());
      const signOut = ending.signOut.get(old.metadata.name);
      return signOut && { ...old, status: { ...old.status, signOut } };
    },
  },
});
