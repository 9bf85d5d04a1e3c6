import { Audience, type AudienceObject } from '../../kinds/apps/audience/audience.js';
import { mayRequest } from '../../kinds/apps/audience/audience-scope.js';
import { isDocumentURL } from '../../kinds/apps/client/document-url.js';
import type { ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { clientObject } from './clients.js';

/** An Audience that an authorization request names, with its scopes that the request names. */
export interface RequestedAudience {
  readonly audience: AudienceObject;
  readonly scopes: readonly string[];
}

/** Returns the Audiences that exist of those that a Client may request. */
export async function audiencesOf(
  services: ProviderServices,
  clientID: string,
): Promise<AudienceObject[]> {
  const reader = services.store.reader(Audience);
  const client = isDocumentURL(clientID) ? undefined : await clientObject(services, clientID);
  const names = client?.spec.audiences ?? [];
  const audiences = isDocumentURL(clientID)
    ? await withProviderErrors(reader.list())
    : await Promise.all(names.map((name) => withProviderErrors(reader.cached(name))));
  return audiences
    .filter((audience) => audience !== undefined)
    .filter((audience) => mayRequest(audience, clientID, client));
}

/**
 * Returns the Audience with this identifier; undefined if it does not exist or the Client may not
 * request it.
 */
export async function audienceOf(
  services: ProviderServices,
  client: string,
  identifier: string,
): Promise<AudienceObject | undefined> {
  const audiences = await audiencesOf(services, client);
  return audiences.find(({ spec }) => spec.identifier === identifier);
}

/** Returns the Audiences that the parameters of an authorization request name. */
export async function requestedAudiences(
  services: ProviderServices,
  client: string,
  { resource, scope }: Readonly<Record<string, unknown>>,
): Promise<RequestedAudience[]> {
  if (resource === undefined) return [];
  const identifiers = new Set([resource].flat());
  const names = new Set(typeof scope === 'string' ? scope.split(' ') : []);
  const audiences = await audiencesOf(services, client);
  return audiences
    .filter(({ spec }) => identifiers.has(spec.identifier))
    .map((audience) => ({
      audience,
      scopes: audience.spec.scopes.map(({ name }) => name).filter((name) => names.has(name)),
    }));
}
