import { z } from 'zod';
import type { KindObject } from '../../registry/kind.js';
import { Missing } from '../account/account.js';
import { codeLength } from '../signin/code-format.js';
import { Challenges } from '../signin/passkey-challenge.js';
import { Method } from '../session/session.js';
import { timestamp } from '../signin/schema-types.js';

/** The five phases of a sign-in (docs/design/api.md#interactions). */
export const Phase = z.enum([
  'LoginRequired',
  'Authenticated',
  'ConsentRequired',
  'Completed',
  'Aborted',
]);

/** One scope asked for, as the person sees it. */
export const ConsentScope = z.object({
  name: z.string().describe('The scope.'),
  title: z.string().describe('What it is, in a few words.'),
  description: z.string().describe('What it is for.'),
  sensitive: z.boolean().describe('Highlighted in the consent, because it is sensitive.'),
  required: z.boolean().describe('The sign-in fails without it.'),
  granted: z.boolean().describe('Agreed to before.'),
  provider: z
    .object({
      name: z.string().describe('Its name.'),
      displayName: z.string().describe('Its name for people.'),
    })
    .describe('The service that supplies it.'),
  allowed: z.boolean().describe('Policy permits sharing it.'),
  reason: z.string().optional().describe('Why policy refuses it.'),
  preview: z
    .array(
      z.object({
        claim: z.string().describe('Claim.'),
        title: z.string().describe('What it is called.'),
        value: z
          .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
          .describe('What would be shared.'),
      }),
    )
    .describe('The very values that would be shared.'),
  previewUnavailable: z.boolean().optional().describe('The values could not be fetched just now.'),
  claims: z
    .array(
      z.object({
        claim: z.string().describe('Claim.'),
        title: z.string().describe('What it is called.'),
      }),
    )
    .optional()
    .describe('What would be shared, where the values could not be fetched.'),
  permissions: z
    .array(z.string())
    .optional()
    .describe('What it permits, a sentence each, where it shares no data.'),
});

export type ConsentScope = z.infer<typeof ConsentScope>;

const ClientSummary = z
  .object({
    name: z.string().describe('The Client.'),
    displayName: z.string().describe('Its name for people.'),
    logoURI: z.string().optional().describe('Logo.'),
    homepageURI: z.string().optional().describe('Home page.'),
    initiateLoginURI: z.string().optional().describe('Starts a sign-in there again.'),
    policyURI: z.string().optional().describe('Privacy policy.'),
    termsURI: z.string().optional().describe('Terms of service.'),
    firstParty: z.boolean().describe('Run by the same people as this service.'),
  })
  .describe('Who asks.');

/**
 * An emailed code and link, one proof (docs/design/security.md#emailed-codes-and-links). Times in
 * milliseconds since the epoch.
 */
const EmailProof = z.object({
  id: z.string(),
  address: z.string(),
  /** HMAC of interaction ‖ challenge ‖ code, base64url. */
  code: z.string(),
  /** SHA-256 of the link's token, base64url. */
  link: z.string(),
  sent: z.number().int(),
  expires: z.number().int(),
  triesLeft: z.number().int(),
  state: z.enum(['InForce', 'Used', 'Replaced']),
  /** The mail carries the link only: codes rest for this address. */
  linkOnly: z.boolean(),
});

type EmailProof = z.infer<typeof EmailProof>;

export const InteractionSpec = z.object({
  client: z.string().describe('The Client that asks.'),
  scopes: z.array(z.string()).describe('Scopes asked for.'),
  prompt: z.enum(['Login', 'Consent']).describe('Which half of a sign-in this is.'),
  loginHint: z.string().max(320).optional().describe('The address the Client suggests.'),
  locales: z
    .array(z.string())
    .max(10)
    .optional()
    .describe('Languages the Client suggests, BCP 47.'),
});

export const InteractionStatus = z.object({
  phase: Phase.describe('What is needed next.'),
  client: ClientSummary,
  methods: z.array(Method).optional().describe('Ways to sign in that policy permits here and now.'),
  emailChallenge: z
    .object({
      email: z.string().describe('Where it was sent.'),
      sender: z.string().optional().describe('The address that it comes from.'),
      deliveryState: z
        .enum(['Deferred', 'Failed', 'Unknown'])
        .optional()
        .describe(
          'Why it may not arrive: Deferred is tried again, Failed was refused for good, of ' +
            'Unknown it is not known whether the mail server took it. Absent while nothing went ' +
            'wrong.',
        ),
      sentTimestamp: timestamp().describe('When.'),
      expirationTimestamp: timestamp().describe('Until when code and link count.'),
      resendAfterTimestamp: timestamp().describe('From when a new one may be asked for.'),
      triesLeft: z.number().int().describe('Wrong codes that may still follow.'),
      codeLength: codeLength(),
    })
    .optional()
    .describe('The email sent, if one was.'),
  account: z
    .object({
      name: z.string().describe('The Account.'),
      displayName: z.string().optional().describe('Its name for people.'),
      email: z.string().describe('Its proven address.'),
      setup: z
        .object({
          complete: z.boolean().describe('Nothing is missing.'),
          missing: z.array(Missing).describe('What may still be asked for.'),
        })
        .describe('How far it is set up.'),
    })
    .optional()
    .describe('Who signed in.'),
  returnTo: z.string().optional().describe('Where to send the browser next.'),
  consent: z
    .object({ scopes: z.array(ConsentScope).describe('One entry a scope asked for.') })
    .optional()
    .describe('What would be shared.'),
  expirationTimestamp: timestamp().describe('When this sign-in is over.'),
  previous: z.string().optional().describe('The first half of the same sign-in.'),
  next: z.string().optional().describe('The second half of the same sign-in.'),
  refusal: z
    .object({
      message: z.string().describe('The rule’s own words.'),
      policyDecision: z.string().optional().describe('The decision.'),
    })
    .optional()
    .describe('Why policy refuses the sign-in.'),
});

/** What never leaves the server. */
export const InteractionInternal = z.object({
  /** The store's epoch when it was made: a restored backup revives none. */
  epoch: z.number().int(),
  /** What links the halves of one sign-in. */
  cid: z.string(),
  /** Sealed: holds the uid. Absent once the library destroyed its half. */
  returnTo: z.string().optional(),
  created: z.number().int(),
  /** Until when it can be used, in milliseconds since the epoch. */
  ends: z.number().int().optional(),
  /**
   * When its browser last asked for anything, as far as it was written down, in milliseconds since
   * the epoch.
   */
  touched: z.number().int().optional(),
  /** The person the live session belongs to, in ConsentRequired. */
  account: z.string().optional(),
  session: z.string().optional(),
  email: EmailProof.optional(),
  /** Earlier challenges, to tell a replaced code or link from a wrong one. */
  replaced: z.array(z.object({ id: z.string(), code: z.string(), link: z.string() })).max(20),
  login: z
    .object({
      account: z.string(),
      method: Method,
      seconds: z.number().int(),
      amr: z.array(z.string()),
      acr: z.string(),
      /** How many passkeys the account has; absent in records of earlier releases. */
      passkeys: z.number().int().optional(),
      /** The account was made by this very sign-in. */
      isSignUp: z.boolean().optional(),
      /** The browser proved an earlier sign-in with this address. */
      isKnownBrowser: z.boolean().optional(),
    })
    .optional(),
  consent: z.object({ scopes: z.array(z.string()), rejected: z.array(z.string()) }).optional(),
  /** The library has the result: it was committed together with what this record states. */
  isHandedOver: z.boolean().optional(),
  /**
   * Names of the claims that other services would share, as the person was shown them with their
   * values or by name alone, by scope.
   */
  shown: z
    .record(z.string(), z.object({ provider: z.string(), claims: z.array(z.string()) }))
    .optional(),
  passkeyChallenges: Challenges.optional(),
  /** Only a passkey will do: policy refuses a live session that was begun by less. */
  passkeyOnly: z.boolean().optional(),
  /** The acr that the Client demands, where not every sign-in meets it. */
  demandedAcr: z.string().optional(),
  /** The decision that refused a sign-up, until another try. */
  refusedBy: z.string().optional(),
  aborted: z.enum(['Declined', 'Superseded', 'Refused']).optional(),
});

/** An Interaction as the server holds it. */
export type InteractionObject = KindObject<
  z.infer<typeof InteractionSpec>,
  z.infer<typeof InteractionStatus>,
  z.infer<typeof InteractionInternal>
>;

/** How long sign-ins could be used before each said so itself, in milliseconds. */
const formerLifetime = 3_600_000;

/** Until when a sign-in can be used, in milliseconds since the epoch. */
export const endOf = ({ created, ends }: InteractionObject['internal']): number =>
  ends ?? created + formerLifetime;

/** Until when its record stays: twice as long, so that "over" can be told from "unknown". */
export const recordEndOf = (internal: InteractionObject['internal']): number =>
  2 * endOf(internal) - internal.created;
