import { z } from 'zod';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { defineKind } from '../../define-kind.js';
import { timestamp } from '../../signin/schema-types.js';

/** How long a review is kept, in milliseconds. */
export const retentionMs = 90 * dayMs;

/** Returns the key that counts the reviews of an account. */
export const reviewCountKey = (account: string): string => `reviewcount/${account}`;

/**
 * A request for claims from a ClaimsProvider and its outcome, without claim values. Kept for 90
 * days.
 */
export const ClaimsReview = defineKind({
  kind: 'ClaimsReview',
  resource: 'claimsreviews',
  shortNames: ['cr'],
  owner: 'spec.account',
  nameSource: 'service',
  description: 'A request for the claims of a person from a claims provider.',
  verbs: ['get', 'list', 'watch'],
  webhook: {
    name: 'claimsReview',
    description:
      'Requests the claims of a person from a ClaimsProvider at its url. `Authorization: Bearer` carries a JWT of this service (`iss`, `aud` is the url, `sub` is the account, `jti`, expires after a minute).',
    answer: z.object({
      claims: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
        .describe(
          'The values by claim. Claims that are not declared or have another type are dropped.',
        ),
    }),
  },
  spec: z.object({
    account: z.string().describe('The Account that the claims are about.'),
    client: z.string().describe('The Client that receives the claims.'),
    provider: z.string().describe('The ClaimsProvider.'),
    scopes: z.array(z.string()).describe('The scopes whose claims were requested.'),
    purpose: z
      .enum(['Preview', 'Release'])
      .describe('Preview: shown in the consent. Release: sent to the Client.'),
  }),
  status: z.object({
    outcome: z
      .enum(['Answered', 'TimedOut', 'Failed', 'Refused'])
      .describe(
        'The outcome. Refused: no request was sent, because the egress policy or the circuit breaker prevented it.',
      ),
    claims: z.array(z.string()).describe('The names of the received claims, never their values.'),
    durationMilliseconds: z.number().int().describe('The duration in milliseconds.'),
    timestamp: timestamp().describe('When the review ended.'),
  }),
  expires: (review) => fromTimestamp(review.status.timestamp) + retentionMs,
  selectableFields: {
    'spec.client': ({ spec }) => spec.client,
    'spec.provider': ({ spec }) => spec.provider,
  },
  columns: {
    Client: (review) => review.spec.client,
    Provider: (review) => review.spec.provider,
    Outcome: (review) => review.status.outcome,
  },
});
