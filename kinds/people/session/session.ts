import { z } from 'zod';
import { defineKind } from '../../define-kind.js';
import { AddedPasskey } from '../../signin/added-passkey.js';
import { Challenges } from '../../signin/passkey-challenge.js';
import { deliveryState, displayed, timestamp } from '../../signin/schema-types.js';
import { sessionDictionary } from './session-dictionary.js';

/** The sign-in methods. */
export const Method = z.enum(['EmailCode', 'EmailLink', 'Passkey']);
export type Method = z.infer<typeof Method>;

const SignOut = z.object({
  clients: z
    .array(
      z.object({
        name: z.string().describe('Client.'),
        state: z
          .enum(['Notified', 'Retrying', 'GaveUp', 'Unsupported'])
          .describe('The state of its logout notification.'),
      }),
    )
    .describe('The Clients of the session and their logout notifications.'),
});
/** The logout notifications of a session that ends. */
export type SignOut = z.infer<typeof SignOut>;

/**
 * A browser session of an account. It is a projection of oidc-provider's session, written in the
 * same commit.
 */
export const Session = defineKind({
  kind: 'Session',
  resource: 'sessions',
  shortNames: ['sess'],
  owner: 'status.account',
  ownName: (caller) => (caller.type === 'Account' ? caller.session : undefined),
  cached: true,
  nameSource: 'service',
  description: 'A browser in which an account is signed in.',
  verbs: ['get', 'list', 'watch', 'delete', 'deletecollection'],
  spec: z.object({}),
  status: z.object({
    account: z.string().describe('The Account that is signed in.'),
    current: z.boolean().describe('True for the session of this request.'),
    authenticationTimestamp: timestamp().describe('When the person last signed in.'),
    methods: z.array(Method).describe('The methods of that sign-in.'),
    assurance: z.string().describe('The acr claim.'),
    client: z
      .object({
        browser: z.string().max(64).describe('The browser, from its user agent.'),
        os: z.string().max(64).describe('The operating system, from the user agent.'),
        device: z.string().max(64).describe('Desktop, Phone, Tablet or Other.'),
      })
      .describe('The browser and device of the session.'),
    lastUsedTimestamp: timestamp().describe('The last use by a Client, accurate to five minutes.'),
    expirationTimestamp: timestamp().describe('When it expires unless it is used again.'),
    clients: z
      .array(
        z.object({
          ...displayed('Client.'),
        }),
      )
      .describe('The Clients that the session is signed in to.'),
    recentEvents: z
      .array(
        z.object({
          type: z
            .enum(['SignedIn', 'SignedInAgain', 'CodeIssued', 'TokensIssued'])
            .describe('What happened.'),
          timestamp: timestamp().describe(
            'When it happened. A code and tokens for one Client within five minutes are one event.',
          ),
          method: Method.optional().describe('How the person signed in.'),
          browser: z
            .string()
            .max(160)
            .optional()
            .describe('The browser of the sign-in, from its user agent.'),
          client: z
            .string()
            .optional()
            .describe('The Client that the code or tokens were issued to.'),
        }),
      )
      .max(10)
      .optional()
      .describe('The last ten events of the session, oldest first.'),
    emailDeliveryState: deliveryState().describe(
      'A delivery problem of the code for a new address: retried, refused, or of unknown outcome. ' +
        'Absent without a problem.',
    ),
    signOut: SignOut.optional().describe('Present while the session is being ended.'),
  }),
  internal: z.object({
    /**
     * Storage key of oidc-provider's session, so that a sign-out deletes it without the cookie's
     * value.
     */
    recordKey: z.string(),
    /**
     * SHA-256 (base64url) of oidc-provider's uid, which codes and tokens of the session refer to.
     */
    uidDigest: z.string(),
    loginSeconds: z.number().int(),
    /** Clients get the facts of the sign-in itself, without this. */
    addedPasskey: AddedPasskey.optional(),
    epoch: z.number().int(),
    expires: z.number().int(),
    passkeyChallenges: Challenges.optional(),
  }),
  dictionary: sessionDictionary,
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
      if (call.caller.type === 'Account' && call.caller.session === old.metadata.name) {
        tx.after(() => call.ports.clearSessionCookie());
      } else if (call.caller.type !== 'System' && !old.metadata.deletionTimestamp) {
        await call.ports.endSignInsUnderWay(tx, call, old.status.account);
      }
      const signOut = ending.signOut.get(old.metadata.name);
      return signOut && { ...old, status: { ...old.status, signOut } };
    },
  },
});
