import { type ClientContext, errors, type ProviderContext } from 'oidc-provider';
import { canBeRelyingPartyId } from '../../kinds/people/passkey/rp-id.js';
import { emailAcr, phishingResistant } from '../../kinds/people/session/acr.js';
import type { Settings } from '../../registry/kind.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { parseJSON } from '../../registry/schema/strict-json.js';

/**
 * Authentication context class references, the weakest first; each also satisfies the ones before
 * it.
 */
const byStrength: readonly string[] = [emailAcr, phishingResistant];

/** Returns the acr values that this service can satisfy, the strongest first. */
export const offeredAcrs = ({ rpID }: Pick<Settings, 'rpID'>): string[] =>
  canBeRelyingPartyId(rpID) ? [phishingResistant, emailAcr] : [emailAcr];

/**
 * Returns the weakest acr that satisfies `acr_values` and the acr of `claims`, undefined if none is
 * requested, and 'Unmet' if this service cannot satisfy the request. Values that it does not know are
 * a wish unless the claim is essential (OpenID Connect Core §3.1.2.1, §5.5.1.1).
 */
export function demandedAcr(
  params: Readonly<Record<string, unknown>>,
  settings: Pick<Settings, 'rpID'>,
): string | 'Unmet' | undefined {
  const offered = offeredAcrs(settings);
  const wishes: RequestedAcr[] = [{ values: splitWords(params.acr_values) }, acrOf(params.claims)];
  const requested = wishes.filter(({ values, essential }) =>
    essential ? values.length > 0 : values.some((value) => byStrength.includes(value)),
  );
  const weakest = requested.map(({ values }) =>
    byStrength.find((acr) => offered.includes(acr) && values.includes(acr)),
  );
  if (weakest.includes(undefined)) return 'Unmet';
  return byStrength.findLast((acr) => weakest.includes(acr));
}

/** Returns the words of `acr_values` that this service does not know. */
export const unknownAcrs = (acrValues: unknown): string[] =>
  splitWords(acrValues).filter((value) => !byStrength.includes(value));

/** Returns true if a sign-in with `acr` satisfies the demanded one. */
export const satisfies = (acr: string | undefined, demanded: string): boolean =>
  byStrength.indexOf(acr ?? '') >= byStrength.indexOf(demanded);

/**
 * Throws for an invalid `claims` parameter (OpenID Connect Core §5.5). Keeps only the acr of the ID
 * token: oidc-provider would ask for consent to other claims that it then does not return.
 */
export function assertClaims({ oidc }: ClientContext, claims: string | undefined): void {
  if (claims === undefined) return;
  const requested = parseClaims(claims);
  if (!isRecord(requested)) throw new errors.InvalidRequest('claims must be a JSON object');
  const token = requested.id_token ?? {};
  const acr = isRecord(token) ? (token.acr ?? {}) : undefined;
  if (!isRecord(acr)) {
    throw new errors.InvalidRequest('claims.id_token and its acr must be objects');
  }
  if (acr.value !== undefined && typeof acr.value !== 'string') {
    throw new errors.InvalidRequest('claims.id_token.acr.value must be a string');
  }
  const { values } = acr;
  if (
    values !== undefined &&
    !(Array.isArray(values) && values.every((value) => typeof value === 'string'))
  ) {
    throw new errors.InvalidRequest('claims.id_token.acr.values must be an array of strings');
  }
  if (acr.essential !== undefined && typeof acr.essential !== 'boolean') {
    throw new errors.InvalidRequest('claims.id_token.acr.essential must be a boolean');
  }
  oidc.params.claims = JSON.stringify({ id_token: { acr } });
}

/**
 * Returns true if the session is weaker than the request demands. Throws if no sign-in, or not the
 * one just made, can satisfy it (OpenID Connect Core Error Code unmet_authentication_requirements
 * 1.0).
 */
export function isWeakerThanDemanded(
  { oidc }: ProviderContext,
  settings: Pick<Settings, 'rpID'>,
): boolean {
  const demanded = demandedAcr(oidc.params ?? {}, settings);
  if (demanded === undefined) return false;
  if (demanded === 'Unmet') {
    throw new errors.UnmetAuthenticationRequirements(
      'none of the requested acr values can be satisfied',
    );
  }
  if (oidc.session?.accountId === undefined || satisfies(oidc.session.acr, demanded)) return false;
  if (oidc.result?.login) {
    throw new errors.UnmetAuthenticationRequirements('the sign-in was weaker than requested');
  }
  return true;
}

const splitWords = (text: unknown): string[] =>
  typeof text === 'string' ? text.split(' ').filter(Boolean) : [];

/** The acr that a request asks for. */
interface RequestedAcr {
  readonly values: readonly string[];
  readonly essential?: boolean;
}

function acrOf(claims: unknown): RequestedAcr {
  if (typeof claims !== 'string') return { values: [] };
  const { id_token: token } = parseClaims(claims) as {
    id_token?: { acr?: { value?: string; values?: string[]; essential?: boolean } | null } | null;
  };
  const { value, values = [], essential = false } = token?.acr ?? {};
  return { values: value === undefined ? values : [value, ...values], essential };
}

function parseClaims(claims: string): unknown {
  try {
    return parseJSON(Buffer.from(claims));
  } catch {
    throw new errors.InvalidRequest('claims must be a JSON object');
  }
}
