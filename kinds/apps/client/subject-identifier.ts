import { createHmac } from 'node:crypto';
import type { ObjectOf } from '../../../registry/kind.js';
import type { Keys } from '../../../security/keyring.js';
import type { Client } from './client.js';

/**
 * Returns the pairwise subject of an account for a sector; its key is never rotated (OpenID Connect
 * Core §8.1).
 */
export const pairwiseSubject = (
  keys: Pick<Keys, 'pairwise'>,
  sector: string,
  account: string,
): string =>
  createHmac('sha256', keys.pairwise).update(`${sector}\0${account}`).digest('base64url');

/**
 * Returns the sub claim of an account for a Client: the account's name, or a pairwise identifier
 * that Clients of other hosts cannot correlate.
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

/** Returns the sector of a Client: the host of its redirect URIs, else of its keys. */
function sectorOf({
  metadata,
  spec: { redirectURIs, grantTypes, jwksURI },
}: ObjectOf<typeof Client>): string {
  const [uri] =
    grantTypes.includes('authorization_code') && redirectURIs.length > 0 ? redirectURIs : [jwksURI];
  return uri === undefined ? metadata.name : new URL(uri).host;
}
