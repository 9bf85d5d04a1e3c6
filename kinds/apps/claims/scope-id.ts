/** A scope of an Audience. */
export interface AudienceScopeName {
  readonly audience: string;
  readonly scope: string;
}

/**
 * Returns the id of a scope of an Audience, by which policy, consents and decisions name it:
 * `billing/read`.
 */
export const audienceScopeID = (audience: string, scope: string): string => `${audience}/${scope}`;

/** Returns the Audience and the scope that an id names; undefined for a scope of no Audience. */
export function parseAudienceScopeID(id: string): AudienceScopeName | undefined {
  const slash = id.indexOf('/');
  const audience = id.slice(0, Math.max(0, slash));
  return isAudienceName(audience) ? { audience, scope: id.slice(slash + 1) } : undefined;
}

/** Reports whether a text can be the name of an Audience: that of an object. */
const isAudienceName = (text: string): boolean =>
  /^[a-z0-9][-a-z0-9.]*$/.test(text) && !/[-.]$/.test(text);
