import { errors, type ProviderContext } from 'oidc-provider';
import { emailAcr, phishingResistant } from '../../kinds/session/acr.js';
import { canBeRelyingPartyId } from '../../kinds/passkey/rp-id.js';
import { parseJSON } from '../../registry/strict-json.js';
import type { Settings } from '../../registry/kind.js';

/**
 * Authentication context class references, from the weakest on: each sign-in also meets what is
 * asked of the ones before it.
 */
const byStrength: readonly string[] = [emailAcr, phishingResistant];

/** Returns the acr values that people can sign in by here, the strongest first. */
export const offeredAcrs = ({ rpID }: Pick<Settings, 'rpID'>): string[] =>
  canBeRelyingPartyId(rpID) ? [phishingResistant, emailAcr] : [emailAcr];

/**
 * Returns the weakest acr that meets what a request asks by `acr_values` and by the acr of
 * `claims`, essential or not; undefined where it asks nothing, 'Unmet' where no sign-in here can
 * meet it.
 */
export function demandedAcr(
  params: Readonly<Record<string, unknown>>,
  settings: Pick<Settings, 'rpID'>,
): string | 'Unmet' | undefined {
  const offered = offeredAcrs(settings);
  const asked = [wordsOf(params.acr_values), acrOf(params.claims)].filter(
    (values) => values.length > 0,
  );
  const least = asked.map((values) =>
    byStrength.find((acr) => offered.includes(acr) && values.includes(acr)),
  );
  if (least.includes(undefined)) return 'Unmet';
  return byStrength.findLast((acr) => least.includes(acr));
}

/** Whether a sign-in of one acr meets the demand for another. */
export const meets = (acr: string | undefined, demanded: string): boolean =>
  byStrength.indexOf(acr ?? '') >= byStrength.indexOf(demanded);

/**
 * Refuses a `claims` parameter (OpenID Connect Core 5.5) that cannot be read; of one that can,
 * nothing is kept but the acr of the ID token: the library would ask for consent to other claims,
 * which it then does not give.
 */
export function assertClaims({ oidc }: ProviderContext, claims: string | undefined): void {
  if (claims === undefined) return;
  const asked = parsed(claims);
  if (!isObject(asked)) throw new errors.InvalidRequest('claims must be a JSON object');
  const token = asked.id_token ?? {};
  const acr = isObject(token) ? (token.acr ?? {}) : undefined;
  if (!isObject(acr))
    throw new errors.InvalidRequest('claims.id_token and its acr must be objects');
  if (acr.value !== undefined && typeof acr.value !== 'string')
    throw new errors.InvalidRequest('claims.id_token.acr.value must be a string');
  const { values } = acr;
  if (
    values !== undefined &&
    !(Array.isArray(values) && values.every((one) => typeof one === 'string'))
  )
    throw new errors.InvalidRequest('claims.id_token.acr.values must be an array of strings');
  oidc.params!.claims = JSON.stringify({ id_token: { acr } });
}

/**
 * Whether the session of a request is weaker than the request asks; throws where no sign-in, or not
 * the one just made, can meet it (OpenID Connect Core Error Code unmet_authentication_requirements
 * 1.0).
 */
export function isWeakerThanAsked(
  { oidc }: ProviderContext,
  settings: Pick<Settings, 'rpID'>,
): boolean {
  const demanded = demandedAcr(oidc.params ?? {}, settings);
  if (demanded === undefined) return false;
  if (demanded === 'Unmet')
    throw new errors.UnmetAuthenticationRequirements(
      'none of the acr values that were asked for can be met',
    );
  if (oidc.session?.accountId === undefined || meets(oidc.session.acr, demanded)) return false;
  if (oidc.result?.login)
    throw new errors.UnmetAuthenticationRequirements('the sign-in was weaker than was asked for');
  return true;
}

const wordsOf = (text: unknown): string[] =>
  typeof text === 'string' ? text.split(' ').filter(Boolean) : [];

function acrOf(claims: unknown): string[] {
  if (typeof claims !== 'string') return [];
  const { id_token: token } = parsed(claims) as {
    id_token?: { acr?: { value?: string; values?: string[] } | null } | null;
  };
  const { value, values = [] } = token?.acr ?? {};
  return value === undefined ? values : [value];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(claims: string): unknown {
  try {
    return parseJSON(Buffer.from(claims));
  } catch {
    throw new errors.InvalidRequest('claims must be a JSON object');
  }
}
