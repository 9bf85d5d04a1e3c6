import { z } from 'zod';
import { defineKind } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/timestamp.js';
import { timestamp } from '../signin/schema-types.js';

const kept = 90 * 86_400_000;

/**
 * What this service asked of a service that supplies claims, and how that went; never what it
 * answered. Kept for 90 days.
 */
export const ClaimsReview = defineKind({
  kind: 'ClaimsReview',
  resource: 'claimsreviews',
  shortNames: ['cr'],
  owner: 'spec.account',
  nameSource: 'service',
  description: 'What the service asked another service about a person.',
  verbs: ['get', 'list', 'watch'],
  webhook: {
    name: 'claimsReview',
    description:
      'Asks a ClaimsProvider at its url what it supplies of a person: with `Authorization: Bearer` and a JWT by this service (`iss`, `aud` the url, `sub` the account, `jti`, a minute long).',
    answer: z.object({
      claims: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
        .describe('Values by claim; what is not declared, or of another type, is dropped.'),
    }),
  },
  spec: z.object({
    account: z.string().describe('The Account it was about.'),
    client: z.string().describe('The Client that wants to know.'),
    provider: z.string().describe('The ClaimsProvider that was asked.'),
    scopes: z.array(z.string()).describe('Scopes whose claims were asked for.'),
    purpose: z.enum(['Preview', 'Release']).describe('To be shown at consent, or to be released.'),
  }),
  status: z.object({
    outcome: z
      .enum(['Answered', 'TimedOut', 'Failed', 'Refused'])
      .describe(
        'How it went; Refused: it was not asked at all, for where that would have led or because it failed too often.',
      ),
    claims: z.array(z.string()).describe('Names of the claims it answered, never their values.'),
    durationMilliseconds: z.number().int().describe('How long it took.'),
    timestamp: timestamp().describe('When.'),
  }),
  expires: (review) => fromTimestamp(review.status.timestamp) + kept,
  columns: {
    Client: (review) => review.spec.client,
    Provider: (review) => review.spec.provider,
    Outcome: (review) => review.status.outcome,
  },
});
