import { z } from 'zod';
import type { Settings } from '../../../registry/kind.js';
import { type LimitSetting, limitFault } from '../../../registry/limits/limit-settings.js';
import { conditions } from '../../../registry/schema/conditions.js';
import { mapList, setList } from '../../../registry/schema/list-type.js';
import { describePattern } from '../../../registry/schema/pattern.js';
import { keysOf } from '../../../registry/schema/typed-entries.js';
import { durationText } from '../../../registry/schema/units.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { alreadyExists, type Cause } from '../../../registry/status/status.js';
import { isLoopback } from '../../../security/loopback.js';
import { group } from '../../api-version.js';
import { defineKind } from '../../define-kind.js';
import { limitSettings } from '../../limits/limit-settings.js';
import { accountPageClient } from '../../signin/account-page.js';
import { languageFaults } from '../../signin/language-faults.js';
import { line, redirectURI, texts, timestamp, webAddress } from '../../signin/schema-types.js';
import { isWebUrl, isWrittenAsOpened, writtenAsOpened } from '../../signin/web-url.js';
import { outboundFaults } from '../claims/outbound-url.js';
import { claimName, scopeName } from '../claims/scopes.js';
import { reportFields, showReport } from './client-report.js';
import { conditionsOf } from './conditions.js';
import { isPrivateHost, isPrivateHTTP } from './private-host.js';
import { applyProfile, pkceOf, securityFaults, securityFields } from './security-profile.js';

/** Returns the schema of a duration, in the format of the settings. */
const lifetime = (describe: string) => z.string().regex(durationText).optional().describe(describe);

const GrantType = z.enum([
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
]);

/**
 * The built-in clients (docs/design/provider.md#built-in-clients) by name, and whether they need
 * consent.
 */
export const builtInClients: ReadonlyMap<string, { readonly firstParty: boolean }> = new Map([
  ['vestibule', { firstParty: false }],
  [accountPageClient, { firstParty: true }],
]);

const ClientSpec = z.object({
  displayName: line(64).describe('Its display name.'),
  displayNames: texts(64, 'Its display name'),
  redirectURIs: setList(z.array(redirectURI()))
    .max(50)
    .default([])
    .describe(
      'The permitted redirect URIs: exact matches, but native Clients may use any port of a loopback IP ' +
        'address (RFC 8252 §7.3).',
    ),
  postLogoutRedirectURIs: setList(z.array(redirectURI()))
    .max(50)
    .default([])
    .describe('The permitted redirect URIs after a sign-out.'),
  backchannelLogoutURI: webAddress()
    .optional()
    .describe(
      'Receives a logout token when a session ends (OpenID Connect Back-Channel Logout 1.0).',
    ),
  initiateLoginURI: webAddress().optional().describe('Starts a sign-in at the Client.'),
  homepageURI: webAddress().optional().describe('Home page.'),
  appMenu: z
    .enum(['Allowed', 'Everyone', 'NoOne'])
    .optional()
    .describe(
      'Who sees it in the app menu of the account page, if it has initiateLoginURI or homepageURI: ' +
        'those whom policy lets sign in (Allowed, the default), also those refused, with the reason ' +
        '(Everyone), or no one.',
    ),
  privacyPolicyURI: webAddress().optional().describe('Privacy policy.'),
  termsOfServiceURI: webAddress().optional().describe('Terms of service.'),
  logoURI: webAddress().optional().describe('Logo; shown only from this service’s own origin.'),
  type: z
    .enum(['Public', 'Confidential'])
    .default('Confidential')
    .describe('Whether it can keep a secret.'),
  applicationType: z
    .enum(['web', 'native'])
    .default('web')
    .describe(
      'Native Clients may redirect to any port of a loopback IP address (RFC 8252 §7.3). Those that cannot ' +
        'keep a secret need consent every time there.',
    ),
  tokenEndpointAuthMethod: z
    .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
    .optional()
    .describe('How it authenticates; by default client_secret_basic, or none if Public.'),
  ...securityFields,
  jwks: z
    .object({
      keys: z
        .array(z.record(z.string(), z.union([z.string(), z.array(z.string()), z.boolean()])))
        .max(20)
        .describe('Public keys, RFC 7517.'),
    })
    .optional()
    .describe('Public keys for private_key_jwt.'),
  jwksURI: webAddress().optional().describe('The URL of those keys.'),
  grantTypes: setList(z.array(GrantType))
    .max(3)
    .default(['authorization_code', 'refresh_token'])
    .describe('The grant types that it may use.'),
  scopes: mapList(
    z.array(
      z.object({
        name: scopeName().describe('The scope (RFC 6749 §3.3).'),
        required: z.boolean().default(false).describe('The sign-in fails without it.'),
      }),
    ),
    'name',
  )
    .max(50)
    .default([{ name: 'openid', required: true }])
    .describe('The scopes that it may request.'),
  audiences: setList(z.array(z.string().min(1).max(253)))
    .max(20)
    .optional()
    .describe('The Audiences whose access tokens it may request (RFC 8707).'),
  subjectType: z
    .enum(['public', 'pairwise'])
    .default('public')
    .describe('Whether sub is the name of the account or a pairwise identifier.'),
  idTokenClaims: setList(z.array(claimName()))
    .max(50)
    .optional()
    .describe(
      'The claims of agreed scopes that the ID token includes: by default email, email_verified, name, ' +
        'preferred_username and groups. None with an empty list.',
    ),
  groups: setList(z.array(z.string().min(1).max(253)))
    .max(20)
    .optional()
    .describe(
      'The Groups that it belongs to, for rules of the policy: their members may manage it, for example.',
    ),
  firstParty: z
    .boolean()
    .default(false)
    .describe('Operated by the operator of this service: needs no consent.'),
  lifetimes: z
    .object({
      accessToken: lifetime('The lifetime of its access tokens, from 1m to 24h.'),
      idToken: lifetime('The lifetime of its ID tokens, from 1m to 24h.'),
      refreshToken: lifetime(
        'The lifetime of its refresh tokens after their last use, from 5m to 8760h.',
      ),
      signIn: lifetime(
        'The maximum age of a sign-in before the person must sign in again for it, from 1m to ' +
          '2160h (default_max_age, OpenID Connect Dynamic Client Registration 1.0).',
      ),
    })
    .optional()
    .describe('Lifetimes for this Client, which override the settings.'),
  secretHashes: setList(
    z.array(
      z
        .string()
        .regex(
          describePattern(
            /^sha256:[0-9a-f]{64}$/,
            'must be sha256: and 64 hexadecimal digits in lower case',
          ),
        ),
    ),
  )
    .max(2)
    .optional()
    .describe('The SHA-256 hashes of secrets that were created elsewhere.'),
});
export type ClientSpec = z.infer<typeof ClientSpec>;
type Spec = ClientSpec;
const named = { kind: 'Client', resource: 'clients', group };

/** A relying party (OpenID Connect). Its name is the `client_id`. */
export const Client = defineKind({
  kind: 'Client',
  resource: 'clients',
  names: {
    v1alpha1: { 'spec.privacyPolicyURI': 'policyURI', 'spec.termsOfServiceURI': 'termsURI' },
  },
  cached: true,
  description: 'An OpenID Connect relying party; its name is the client_id.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: ClientSpec,
  status: z.object({
    secrets: z
      .array(
        z.object({
          hint: z.string().describe('Its last four characters.'),
          creationTimestamp: timestamp().describe('When it was created.'),
        }),
      )
      .max(2)
      .describe('The active secrets, without their values.'),
    ...reportFields,
    conditions: conditions(
      'Ready, PKCERequired and, with http in a private network, RedirectsUnencrypted',
    ).optional(),
  }),
  internal: z.object({
    secrets: z.array(z.object({ hash: z.string(), created: z.number().int() })),
  }),
  columns: {
    'Display-Name': (client) => client.spec.displayName,
    Type: (client) => client.spec.type,
    PKCE: { wide: (client) => pkceOf(client.spec) },
  },
  strategy: {
    default(next) {
      next.status.secrets ??= [];
      next.internal ??= { secrets: [] };
      applyProfile(next.spec);
    },
    decorate: showReport,
    validate: (next, _old, { settings }) => clientFaults(next.metadata.name, next.spec, settings),
    beforeCommit(_tx, next, old, { now }) {
      if (!next) return;
      if (!old && builtInClients.has(next.metadata.name)) {
        throw alreadyExists(named, next.metadata.name);
      }
      next.status.conditions = conditionsOf(next, old?.status.conditions, now);
    },
  },
});

/** Returns the faults of a Client that its schema does not find, at most one for each field. */
export function clientFaults(name: string, spec: Spec, settings: Settings): Cause[] {
  const causes: Cause[] = [];
  const addFault = (field: string, message: string): void => {
    causes.push(invalidValue(field, message));
  };
  if (name.length > 200) addFault('metadata.name', 'must have at most 200 characters');
  for (const field of ['redirectURIs', 'postLogoutRedirectURIs'] as const) {
    spec[field].forEach((uri, i) => {
      const [why] = redirectFaults(uri, spec.applicationType, settings);
      if (why) addFault(`spec.${field}[${i}]`, why);
    });
  }
  if (spec.jwks && spec.jwksURI) {
    addFault('spec.jwksURI', 'only one of jwks and jwksURI may be given');
  }
  if (spec.tokenEndpointAuthMethod === 'private_key_jwt' && !spec.jwks && !spec.jwksURI) {
    addFault('spec.jwks', 'private_key_jwt needs jwks or jwksURI');
  }
  if (
    (spec.type === 'Public') !==
    ((spec.tokenEndpointAuthMethod ?? (spec.type === 'Public' ? 'none' : 'client_secret_basic')) ===
      'none')
  ) {
    addFault('spec.tokenEndpointAuthMethod', 'must be none for Public Clients and only for them');
  }
  for (const field of ['backchannelLogoutURI', 'jwksURI'] as const) {
    if (spec[field] !== undefined) {
      causes.push(...outboundFaults(`spec.${field}`, spec[field], settings));
    }
  }
  for (const field of [
    'homepageURI',
    'privacyPolicyURI',
    'termsOfServiceURI',
    'logoURI',
    'initiateLoginURI',
  ] as const) {
    const uri = spec[field];
    if (uri && !isWebUrl(uri) && !(settings.allowPrivateHTTPRedirects && isPrivateHTTP(uri))) {
      addFault(`spec.${field}`, 'must be an https address, or http on loopback');
    } else if (uri?.includes('#') && field !== 'homepageURI') {
      addFault(`spec.${field}`, 'must have no fragment');
    }
  }
  spec.jwks?.keys.forEach((key, i) => {
    if (isPrivate(key)) {
      addFault(`spec.jwks.keys[${i}]`, 'must be a public key of type EC, RSA or OKP');
    }
  });
  causes.push(
    ...languageFaults('spec.displayNames', spec.displayNames),
    ...pairwiseFaults(spec),
    ...lifetimeFaults(spec),
    ...securityFaults(spec),
  );
  return causes.filter(({ field }, i) => causes.findIndex((cause) => cause.field === field) === i);
}

const isPrivate = (key: Record<string, unknown>): boolean =>
  !['EC', 'RSA', 'OKP'].includes(String(key.kty)) ||
  ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'].some((member) => member in key);

/**
 * Returns the faults of a pairwise Client: its redirect URIs must have one host, or without
 * redirects its keys must be at a URL (OpenID Connect Core §8.1).
 */
function pairwiseFaults(spec: Spec): Cause[] {
  if (spec.subjectType !== 'pairwise') return [];
  const hosts = new Set(
    spec.redirectURIs.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri).host),
  );
  const hasPublishedKeys =
    spec.tokenEndpointAuthMethod === 'private_key_jwt' && spec.jwksURI !== undefined;
  if (hosts.size > 1) {
    return [
      invalidValue('spec.subjectType', 'all redirect URIs of a pairwise Client must have one host'),
    ];
  }
  if (
    spec.grantTypes.includes('urn:ietf:params:oauth:grant-type:device_code') &&
    !hasPublishedKeys
  ) {
    return [
      invalidValue(
        'spec.subjectType',
        'pairwise with the device grant needs private_key_jwt and jwksURI',
      ),
    ];
  }
  return [];
}

/** The bounds of each lifetime of a Client, with the reason. */
const lifetimeBounds = {
  accessToken: limitSettings.accessTokenLifetime,
  idToken: limitSettings.idTokenLifetime,
  refreshToken: limitSettings.refreshTokenLifetime,
  signIn: {
    ...limitSettings.sessionLifetime,
    min: '1m',
    max: '2160h',
    because: 'people would have to sign in constantly, or never again',
  },
} satisfies Record<keyof NonNullable<Spec['lifetimes']>, LimitSetting>;

/**
 * Returns the faults of lifetimes: too short for any Client to work with, or so long that stolen
 * tokens stay valid too long.
 */
function lifetimeFaults({ lifetimes = {} }: Spec): Cause[] {
  return keysOf(lifetimeBounds).flatMap((name): Cause[] => {
    if (lifetimes[name] === undefined) return [];
    const wrong = limitFault(lifetimeBounds[name], lifetimes[name]);
    return wrong === undefined ? [] : [invalidValue(`spec.lifetimes.${name}`, `must be ${wrong}`)];
  });
}

const isPlainHTTP = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !isLoopback(hostname);

function redirectFaults(
  text: string,
  applicationType: Spec['applicationType'],
  { allowPrivateHTTPRedirects }: Pick<Settings, 'allowPrivateHTTPRedirects'>,
): string[] {
  if (!URL.canParse(text)) return ['must be an absolute URI'];
  const url = new URL(text);
  const faults: string[] = [];
  if (url.hash || text.includes('#')) faults.push('must have no fragment');
  if (url.username || url.password) faults.push('must have no user information');
  if (text.includes('*')) faults.push('must have no wildcard');
  if (isPlainHTTP(url)) {
    if (!isPrivateHost(url.hostname)) {
      faults.push('http is only for loopback');
    } else if (!allowPrivateHTTPRedirects) {
      faults.push(
        'http is only for loopback; in private networks it needs --allow-private-http-redirects',
      );
    }
  }
  if (
    !['https:', 'http:'].includes(url.protocol) &&
    (applicationType === 'web' || !url.protocol.includes('.'))
  ) {
    faults.push(
      'a private-use scheme needs applicationType native and must contain a dot (RFC 8252 §7.1)',
    );
  }
  if (!isWrittenAsOpened(text)) faults.push(writtenAsOpened);
  return faults;
}
