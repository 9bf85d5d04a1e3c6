import { z } from 'zod';
import type { KindObject } from '../../registry/kind.js';
import { Missing } from '../people/account/schema.js';
import { Method } from '../people/session/session.js';
import { AddedPasskey } from '../signin/added-passkey.js';
import { codeLength } from '../signin/code-format.js';
import { Challenges } from '../signin/passkey-challenge.js';
import {
  declaredName,
  deliveryState,
  displayed,
  displayedAudience,
  displayedClaim,
  statusTexts,
  timestamp,
} from '../signin/schema-types.js';

/** The five phases of a sign-in (docs/design/api.md#interactions). */
export const Phase = z.enum([
  'LoginRequired',
  'Authenticated',
  'ConsentRequired',
  'Completed',
  'Aborted',
]);

/** A requested scope, as the person sees it. */
export const ConsentScope = z.object({
  name: z.string().describe('The scope.'),
  title: z.string().describe('A short title.'),
  titles: statusTexts('The title'),
  description: z.string().describe('What it is used for.'),
  descriptions: statusTexts('The description'),
  sensitive: z.boolean().describe('Sensitive: highlighted in the consent.'),
  required: z.boolean().describe('The sign-in fails without it.'),
  granted: z.boolean().describe('The person agreed to it before.'),
  provider: z
    .object({
      ...displayed('Its name.'),
    })
    .describe('The claims provider that supplies it; of a scope of an Audience, who runs that.'),
  audience: z
    .object({
      ...displayedAudience('Its name.'),
    })
    .optional()
    .describe('The Audience that it belongs to; absent for scopes of claims.'),
  allowed: z.boolean().describe('Policy permits sharing it.'),
  reason: z.string().optional().describe('Why policy refuses it.'),
  reasons: statusTexts('The reason'),
  preview: z
    .array(
      z.object({
        ...displayedClaim(),
        value: z
          .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
          .describe('The value that would be shared.'),
        withScope: z
          .string()
          .optional()
          .describe('Another scope of this list; the claim is shared only together with it.'),
      }),
    )
    .describe('The values that would be shared.'),
  previewUnavailable: z.boolean().optional().describe('The values could not be fetched.'),
  claims: z
    .array(
      z.object({
        ...displayedClaim(),
      }),
    )
    .optional()
    .describe('The claims that would be shared, if their values could not be fetched.'),
  permissions: z
    .array(z.string())
    .optional()
    .describe('What it permits, one sentence each, if it shares no claims.'),
});

export type ConsentScope = z.infer<typeof ConsentScope>;

const ClientSummary = z
  .object({
    ...displayed('The Client.'),
    declaredName: declaredName(),
    redirectHost: z
      .string()
      .optional()
      .describe(
        'Where the browser goes after the sign-in, of a Client with a metadata document: the host of ' +
          'redirect_uri, or its scheme. Absent if it is the host of the document.',
      ),
    logoURI: z.string().optional().describe('Logo.'),
    homepageURI: z.string().optional().describe('Home page.'),
    initiateLoginURI: z.string().optional().describe('Starts a new sign-in at the Client.'),
    privacyPolicyURI: z.string().optional().describe('Privacy policy.'),
    termsOfServiceURI: z.string().optional().describe('Terms of service.'),
    firstParty: z.boolean().describe('Operated by the operator of this service.'),
  })
  .describe('The Client that requests the sign-in.');

/**
 * An emailed code and link; using one uses up both
 * (docs/design/security.md#emailed-codes-and-links). Times in milliseconds since the epoch.
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
  /** True if the mail has the link only, because codes were locked for this address. */
  linkOnly: z.boolean(),
});

type EmailProof = z.infer<typeof EmailProof>;

/** Why a sign-in must be stronger or newer than the session of the browser (RFC 9470). */
const StepUpReason = z.enum([
  'AcrRequested',
  'NewSignInRequested',
  'Policy',
  'DeviceConnection',
  'AccountChange',
]);
export type StepUpReason = z.infer<typeof StepUpReason>;

export const InteractionSpec = z.object({
  client: z.string().describe('The Client that requests the sign-in.'),
  scopes: z
    .array(z.string())
    .describe('The requested scopes; those of an Audience as <audience>/<scope>.'),
  prompt: z
    .enum(['Login', 'SelectAccount', 'Consent'])
    .describe(
      'The step of the sign-in: Login; SelectAccount, to go on with the session of the browser or sign in as ' +
        'another; or Consent.',
    ),
  loginHint: z
    .string()
    .max(320)
    .optional()
    .describe(
      'The address that the Client suggests (login_hint), or that of the session of the browser if it is not enough.',
    ),
  locales: z
    .array(z.string())
    .max(10)
    .optional()
    .describe('The languages that the Client suggests (ui_locales), BCP 47.'),
});

export const InteractionStatus = z.object({
  phase: Phase.describe('What is needed next, or how the sign-in ended.'),
  client: ClientSummary,
  methods: z
    .array(Method)
    .optional()
    .describe('The sign-in methods that policy permits here and now.'),
  emailChallenge: z
    .object({
      email: z.string().describe('The address it was sent to.'),
      sender: z.string().optional().describe('The sender address of the email.'),
      deliveryState: deliveryState(),
      sentTimestamp: timestamp().describe('When it was sent.'),
      expirationTimestamp: timestamp().describe('When the code and the link expire.'),
      resendAfterTimestamp: timestamp().describe(
        'When the next email may be requested. At once if no tries are left.',
      ),
      triesLeft: z.number().int().describe('The number of tries that are left.'),
      codeLength: codeLength(),
    })
    .optional()
    .describe('The email that was sent, if any.'),
  account: z
    .object({
      name: z.string().describe('The Account.'),
      displayName: z.string().optional().describe('Its display name.'),
      email: z.string().describe('Its verified address.'),
      setup: z
        .object({
          complete: z.boolean().describe('True if nothing is missing.'),
          missing: z.array(Missing).describe('What the setup still offers.'),
          required: z
            .array(Missing)
            .optional()
            .describe('What the app requires of that: displayName, if it requires scope profile.'),
        })
        .describe('The state of its setup.'),
    })
    .optional()
    .describe('The account that signed in.'),
  returnTo: z.string().optional().describe('The URL to send the browser to next.'),
  resumeTo: z
    .string()
    .optional()
    .describe(
      'In LoginRequired: the URL to send the browser to, which has signed in elsewhere since. Absent ' +
        'if the Client asked for a new or a stronger sign-in.',
    ),
  consent: z
    .object({ scopes: z.array(ConsentScope).describe('One entry for each requested scope.') })
    .optional()
    .describe('The consent to ask for.'),
  expirationTimestamp: timestamp().describe('When this sign-in expires.'),
  previous: z
    .string()
    .optional()
    .describe('The Interaction of the login step of the same sign-in.'),
  next: z.string().optional().describe('The Interaction of the consent step of the same sign-in.'),
  stepUp: z
    .object({
      reason: StepUpReason.describe(
        'Why. AcrRequested: the app requests how strong it is. NewSignInRequested: the app requests a ' +
          'new one. Policy: a rule does. DeviceConnection: a device is being connected. ' +
          'AccountChange: a change of the account needs a passkey.',
      ),
      acr: z.string().optional().describe('The acr that it must satisfy, if not any will do.'),
    })
    .optional()
    .describe(
      'Why the session of this browser is not enough; `methods` are the ones that suffice.',
    ),
  refusal: z
    .object({
      message: z.string().describe('The message of the policy rule.'),
      messages: statusTexts('The message'),
      policyDecision: z.string().optional().describe('The PolicyDecision.'),
    })
    .optional()
    .describe('Why policy refuses the sign-in.'),
});

/** The number of mails that a sign-in, or a change of address, notes. */
export const maxCountedMails = 20;

/**
 * A mail that counts against a client network: a MAC of the network, so that no address of a person
 * is stored, the time (ms since the epoch), and whether the browser was known for the address.
 */
const CountedMail = z.object({ network: z.string(), at: z.number().int(), known: z.boolean() });
export type CountedMail = z.infer<typeof CountedMail>;

/** The part of an Interaction that never leaves the server. */
export const InteractionInternal = z.object({
  /** The store's epoch at creation; an Interaction of an older epoch is invalid after a restore. */
  epoch: z.number().int(),
  /** The id that links the two Interactions of one sign-in. */
  cid: z.string(),
  /** Encrypted, because it contains the library's uid. Absent once it was followed. */
  returnTo: z.string().optional(),
  /** The library's interaction, encrypted. Absent once returnTo was followed. */
  providerInteraction: z.string().optional(),
  created: z.number().int(),
  /** When it expires, in milliseconds since the epoch. */
  ends: z.number().int(),
  /** The last recorded request of its browser, in milliseconds since the epoch. */
  touched: z.number().int().optional(),
  /** True if the browser had no session, and any would have been enough. */
  isResumable: z.boolean().optional(),
  /** The account of the live session, in ConsentRequired. */
  account: z.string().optional(),
  session: z.string().optional(),
  email: EmailProof.optional(),
  /** The mails that count against a client network, until the sign-in is proven. */
  countedMails: z.array(CountedMail).max(maxCountedMails).optional(),
  /** Earlier challenges, to tell a replaced code or link from a wrong one. */
  replaced: z.array(z.object({ id: z.string(), code: z.string(), link: z.string() })).max(20),
  login: z
    .object({
      account: z.string(),
      method: Method,
      seconds: z.number().int(),
      /** The same time in milliseconds. */
      milliseconds: z.number().int(),
      amr: z.array(z.string()),
      acr: z.string(),
      addedPasskey: AddedPasskey.optional(),
      /** The number of passkeys of the account. */
      passkeys: z.number().int(),
      /** True if this sign-in created the account, or is the first of one that an operator created. */
      isSignUp: z.boolean().optional(),
      /** True if it created an account at an address that others gave up or that Groups name. */
      isTakenAddress: z.boolean().optional(),
      /** True if the browser has a cookie of an earlier sign-in with this address. */
      isKnownBrowser: z.boolean().optional(),
    })
    .optional(),
  consent: z.object({ scopes: z.array(z.string()), rejected: z.array(z.string()) }).optional(),
  /**
   * The claims of claims providers that were shown to the person, with their values or by name
   * alone, by scope.
   */
  shown: z
    .record(z.string(), z.object({ provider: z.string(), claims: z.array(z.string()) }))
    .optional(),
  passkeyChallenges: Challenges.optional(),
  /**
   * True if only a passkey is accepted, because policy refuses the live session for its weaker
   * method.
   */
  passkeyOnly: z.boolean().optional(),
  /** The acr that the Client demands, if not every method meets it. */
  demandedAcr: z.string().optional(),
  /** The acr that the Client requests: the weakest that satisfies the request. */
  acrRequested: z.string().optional(),
  /** The name of the decision that refused the last sign-up. */
  refusedBy: z.string().optional(),
  aborted: z.enum(['Declined', 'Superseded', 'Refused']).optional(),
});

/** An Interaction as the server holds it. */
export type InteractionObject = KindObject<
  z.infer<typeof InteractionSpec>,
  z.infer<typeof InteractionStatus>,
  z.infer<typeof InteractionInternal>
>;

/**
 * Returns when a sign-in ends as it is now, in milliseconds since the epoch: one that is not proven
 * ends after `idleMs` without a request. A request after a third of that is recorded.
 */
export function endsAt(
  { internal, status }: Pick<InteractionObject, 'internal' | 'status'>,
  now: number,
  idleMs: number,
): number {
  const { created, ends, touched = created } = internal;
  if (status.phase !== 'LoginRequired') return ends;
  return Math.min(ends, (now - touched >= idleMs / 3 ? now : touched) + idleMs);
}

/**
 * Returns when the record is deleted: after twice the lifetime, so that "expired" differs from
 * "unknown".
 */
export const recordExpiresAt = ({ created, ends }: InteractionObject['internal']): number =>
  2 * ends - created;
