import { createHmac } from 'node:crypto';
import type { Keys } from '../../security/keyring.js';
import type { ObjectOf } from '../../registry/kind.js';
import type { Client } from './client.js';

/**
 * One identifier per account and sector, under a key that is never rotated (OpenID Connect Core
 * 8.1).
 */
export const pairwiseSubject = (
  keys: Pick<Keys, 'pairwise'>,
  sector: string,
  account: string,
): string =>
  createHmac('sha256', keys.pairwise).update(`${sector}\0${account}`).digest('base64url');

/**
 * The sub claim that a Client receives for an account: its name, or what tells the Clients of one
 * host nothing of the others.
 */
export function subjectOf(
  keys: Pick<Keys, 'pairwise'>,
  account: string,
  client: ObjectOf<typeof Client> | undefined,
): string {
  return client?.spec.subjectType === 'pairwise'
    ? pairwiseSubject(keys, sectorOf(client), account)
    : account;
}

/** The host that stands for a Client: where codes go, else where its keys are. */
function sectorOf({
  metadata,
  spec: { redirectURIs, grantTypes, jwksURI },
}: ObjectOf<typeof Client>): string {
  const [uri] =
    grantTypes.includes('authorization_code') && redirectURIs.length > 0 ? redirectURIs : [jwksURI];
  return uri === undefined ? metadata.name : new URL(uri).host;
}
