import type { Awaitable } from '../../../registry/kind.js';
import { audienceScopeID, parseAudienceScopeID } from '../claims/scope-id.js';
import type { AudienceSummary, Scope } from '../claims/scopes.js';
import { isDocumentURL } from '../client/document-url.js';
import type { AudienceObject } from './audience.js';

/** Returns an Audience as people see it. */
export const audienceSummary = ({ metadata, spec }: AudienceObject): AudienceSummary => ({
  name: metadata.name,
  displayName: spec.displayName,
  ...(spec.displayNames && { displayNames: spec.displayNames }),
  ...(spec.operatedBy !== undefined && { operatedBy: spec.operatedBy }),
  ...(spec.homepageURI !== undefined && { homepageURI: spec.homepageURI }),
});

/** Returns a scope of an Audience as the consent shows it; undefined if it has no such scope. */
export function audienceScope(audience: AudienceObject, name: string): Scope | undefined {
  const scope = audience.spec.scopes.find((scope) => scope.name === name);
  if (!scope) return undefined;
  const summary = audienceSummary(audience);
  const { operatedBy, displayName, displayNames } = summary;
  const names = { displayName, ...(displayNames && { displayNames }) };
  return {
    ...scope,
    name: audienceScopeID(audience.metadata.name, name),
    claims: [],
    audience: summary,
    provider: {
      name: summary.name,
      ...(operatedBy === undefined ? names : { displayName: operatedBy }),
    },
    values: () => ({}),
  };
}

/** The part of a Client that says which Audiences it may request. */
interface ClientParts {
  readonly spec: { readonly audiences?: readonly string[] | undefined };
}

/**
 * Returns whether the Client with this `client_id` may request an Audience: it lists the Audience, or
 * it has a metadata document and the Audience accepts such Clients.
 */
export const mayRequest = (
  { metadata, spec }: AudienceObject,
  clientID: string,
  client: ClientParts | undefined,
): boolean =>
  isDocumentURL(clientID)
    ? spec.clientsByDocument
    : (client?.spec.audiences?.includes(metadata.name) ?? false);

/**
 * Returns a function that finds a requested scope by its id: one of `scopes`, or one of an Audience
 * that the Client may request, which `read` returns; undefined if there is none any more.
 */
export const scopeFinder =
  (
    scopes: readonly Scope[],
    clientID: string,
    client: ClientParts | undefined,
    read: (audience: string) => Awaitable<AudienceObject | undefined>,
  ) =>
  async (id: string): Promise<Scope | undefined> => {
    const known = scopes.find(({ name }) => name === id);
    const parsed = known ? undefined : parseAudienceScopeID(id);
    const audience = parsed && (await read(parsed.audience));
    return audience && mayRequest(audience, clientID, client)
      ? audienceScope(audience, parsed.scope)
      : known;
  };
