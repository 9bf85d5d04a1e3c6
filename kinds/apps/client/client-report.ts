import { z } from 'zod';
import type { Call, KindObject } from '../../../registry/kind.js';
import { group } from '../../api-version.js';
import { signedInNow } from '../../people/account/policy-facts.js';
import { timestamp } from '../../signin/schema-types.js';

/** The claims of ID tokens where the Client says nothing: what libraries and programs look for there. */
const defaultIDTokenClaims = ['email', 'email_verified', 'name', 'preferred_username', 'groups'];

/** Returns the claims of agreed scopes that the ID tokens of a Client have. */
export const idTokenClaimsOf = (
  spec: { readonly idTokenClaims?: readonly string[] | undefined } | undefined,
): readonly string[] => spec?.idTokenClaims ?? defaultIDTokenClaims;

/** How many of a Client's refusals are kept. */
export const maxRefusals = 10;

const Refusal = z.object({
  timestamp: timestamp().describe('When it was refused, to a minute.'),
  endpoint: z
    .string()
    .describe('The endpoint: authorization, token, userinfo, end_session and so on.'),
  error: z.string().optional().describe('The error code of the response (RFC 6749 §5.2).'),
  message: z.string().describe('The reason, which the response may not have.'),
  remedy: z.string().optional().describe('What to set, at the Client or in the program.'),
  parameters: z
    .record(z.string(), z.string())
    .optional()
    .describe('The parameters that it is about, as they were sent.'),
  auditID: z.string().optional().describe('The Audit-ID of the response.'),
});

const Share = z.enum(['Always', 'Sometimes', 'Never']);

/** The fields of a Client's status that come from what its program was seen to do. */
export const reportFields = {
  lastRefusals: z
    .array(Refusal)
    .max(maxRefusals)
    .optional()
    .describe(
      'The last refused requests of the program and its last sign-in if it stopped halfway, the newest ' +
        'first, for a week; only in a GET by someone who may change the Client.',
    ),
  authorizationRequests: z
    .object({
      since: timestamp().describe('Since when they were looked at.'),
      codeChallenge: Share.describe('Whether they have a code challenge (PKCE, RFC 7636).'),
      nonce: Share.describe('Whether they have a nonce (OpenID Connect Core §3.1.2.1).'),
    })
    .optional()
    .describe(
      'What the program sends with authorization requests; only in a GET by someone who may change the ' +
        'Client.',
    ),
};

export type Refusal = z.infer<typeof Refusal>;
export type Share = z.infer<typeof Share>;
type ReportStatus = {
  lastRefusals?: Refusal[] | undefined;
  authorizationRequests?: { since: string; codeChallenge: Share; nonce: Share } | undefined;
};

/**
 * Fills in what the program of a Client was seen to do, for those who may change it, if only after they
 * sign in again. It is no part of the
 * stored object: requests that anyone can send change no object (docs/design/provider.md#client-reports).
 */
export async function showReport(
  client: KindObject<unknown, ReportStatus, unknown>,
  call: Call,
): Promise<void> {
  const { name, uid } = client.metadata;
  const decision = await call.decideQuietly('patch', {
    kind: { kind: 'Client', resource: 'clients', group },
    name,
    object: client,
    ...signedInNow('Passkey', call.now),
    signedInRecently: true,
  });
  if (!decision.allowed) return;
  Object.assign(client.status, await call.ports.clientReport(name, uid));
}
