import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { conflict } from '../../../registry/status/status.js';
import { apiVersion } from '../../api-version.js';
import { timestamp } from '../../signin/schema-types.js';
import { Client } from './client.js';

/** The response with a new secret, which is shown once. */
const ClientSecret = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('ClientSecret').describe('The kind.'),
  status: z
    .object({
      secret: z.string().describe('The secret; it is not shown again.'),
      hint: z.string().describe('Its last four characters.'),
      creationTimestamp: timestamp().describe('When it was created.'),
    })
    .describe('The new secret.'),
});

/**
 * POST clients/<name>/secret: creates a 256-bit secret, shown once and stored as SHA-256. Two
 * secrets can be active; a third replaces the oldest.
 */
export const clientSecret = defineAction({
  of: Client,
  subresource: 'secret',
  verb: 'create',
  kind: 'ClientSecret',
  answers: { kind: 'ClientSecret', schema: ClientSecret },
  code: 201,
  description: 'Creates a new secret, which is shown once.',
  spec: z.object({}),
  async run(call, client) {
    const secret = randomBytes(32).toString('base64url');
    const hash = createHash('sha256').update(secret).digest('hex');
    const summary = { hint: secret.slice(-4), creationTimestamp: toTimestamp(call.now) };
    await call.change((tx) =>
      tx.update(Client, client.metadata.name, (next) => {
        if (next.spec.type === 'Public') {
          throw conflict(Client, client.metadata.name, 'a Public client has no secret');
        }
        next.internal = {
          secrets: [...(next.internal?.secrets ?? []), { hash, created: call.now }].slice(-2),
        };
        next.status = { secrets: [...(next.status.secrets ?? []), summary].slice(-2) };
      }),
    );
    return { apiVersion, kind: 'ClientSecret', status: { secret, ...summary } };
  },
});
