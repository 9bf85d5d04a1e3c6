import { z } from 'zod';
import { defineKind, group, type Settings } from '../../registry/kind.js';
import { limitFault, limitSettings, type LimitSetting } from '../../registry/limit-settings.js';
import { isLoopback } from '../../security/loopback.js';
import { alreadyExists, type Cause } from '../../registry/status.js';
import { durationText } from '../../registry/units.js';
import {
  applyProfile,
  Condition,
  conditionsOf,
  securityFaults,
  securityFields,
} from './security-profile.js';
import { claimName, scopeName } from '../claims/scopes.js';
import { fault, outboundFaults } from '../claims/outbound-url.js';
import { line, redirectURI, timestamp, webAddress } from '../signin/schema-types.js';
import { describePattern } from '../../registry/pattern.js';

/** A duration as the settings have them. */
const lifetime = (describe: string) => z.string().regex(durationText).optional().describe(describe);

const GrantType = z.enum([
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
]);

/** Names that the service itself uses (docs/design/provider.md#built-in-clients). */
export const builtInClients: ReadonlySet<string> = new Set(['vestibule', 'vestibule-account']);

const ClientSpec = z.object({
  displayName: line(64).describe('Its name for people.'),
  redirectURIs: z
    .array(redirectURI())
    .max(50)
    .default([])
    .describe('Where codes may be sent: exact matches, any port on loopback for native Clients.'),
  postLogoutRedirectURIs: z
    .array(redirectURI())
    .max(50)
    .default([])
    .describe('Where a sign-out may lead back to.'),
  backchannelLogoutURI: webAddress()
    .optional()
    .describe('Is told when a session ends (OpenID Connect Back-Channel Logout 1.0).'),
  initiateLoginURI: webAddress().optional().describe('Starts a sign-in at the Client.'),
  homepageURI: webAddress().optional().describe('Home page.'),
  policyURI: webAddress().optional().describe('Privacy policy.'),
  termsURI: webAddress().optional().describe('Terms of service.'),
  logoURI: webAddress().optional().describe('Logo; shown only from this service’s own origin.'),
  type: z
    .enum(['Public', 'Confidential'])
    .default('Confidential')
    .describe('Whether it can keep a secret.'),
  applicationType: z
    .enum(['web', 'native'])
    .default('web')
    .describe(
      'Native Clients may redirect to loopback on any port and are asked for consent every time.',
    ),
  tokenEndpointAuthMethod: z
    .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
    .optional()
    .describe('How it authenticates; by default client_secret_basic, or none where Public.'),
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
  jwksURI: webAddress().optional().describe('Where those keys are.'),
  grantTypes: z
    .array(GrantType)
    .max(3)
    .default(['authorization_code', 'refresh_token'])
    .describe('Grants it may use.'),
  scopes: z
    .array(
      z.object({
        name: scopeName().describe('Scope (RFC 6749 3.3).'),
        required: z.boolean().default(false).describe('The sign-in fails without it.'),
      }),
    )
    .max(50)
    .default([{ name: 'openid', required: true }])
    .describe('Scopes it may ask for.'),
  subjectType: z
    .enum(['public', 'pairwise'])
    .default('public')
    .describe('Whether sub is the account’s name or one for this Client alone.'),
  idTokenClaims: z
    .array(claimName())
    .max(50)
    .optional()
    .describe('Claims wanted in the ID token itself.'),
  idTokenSignedResponseAlg: z
    .enum(['ES256', 'RS256'])
    .default('ES256')
    .describe('Signature of its ID tokens.'),
  firstParty: z.boolean().default(false).describe('Run by the same people: consent is not asked.'),
  lifetimes: z
    .object({
      accessToken: lifetime('How long its access tokens count, from 1m to 24h.'),
      idToken: lifetime('How long its ID tokens count, from 1m to 24h.'),
      refreshToken: lifetime(
        'How long its refresh tokens count after their last use, from 5m to 8760h.',
      ),
      signIn: lifetime(
        'How old a sign-in may be before the person must prove themselves again for it, from 1m ' +
          'to 2160h (default_max_age, OpenID Connect Dynamic Client Registration 1.0).',
      ),
    })
    .optional()
    .describe('Lifetimes for this Client, in the place of those of the settings.'),
  secretHashes: z
    .array(
      z
        .string()
        .regex(
          describePattern(
            /^sha256:[0-9a-f]{64}$/,
            'must be sha256: and 64 hexadecimal digits in lower case',
          ),
        ),
    )
    .max(2)
    .optional()
    .describe('SHA-256 of secrets made elsewhere.'),
});
export type ClientSpec = z.infer<typeof ClientSpec>;
type Spec = ClientSpec;

const named = { kind: 'Client', resource: 'clients', group };

/** A relying party. Its name is the `client_id`. */
export const Client = defineKind({
  kind: 'Client',
  resource: 'clients',
  cached: true,
  description: 'An OpenID Connect relying party; its name is the client_id.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: ClientSpec,
  status: z.object({
    secrets: z
      .array(
        z.object({
          hint: z.string().describe('Its last four characters.'),
          creationTimestamp: timestamp().describe('When it was made.'),
        }),
      )
      .max(2)
      .describe('Secrets that live, without their values.'),
    conditions: z.array(Condition).optional().describe('How well it is protected: PKCERequired.'),
  }),
  internal: z.object({
    secrets: z.array(z.object({ hash: z.string(), created: z.number().int() })),
  }),
  columns: {
    'Display-Name': (client) => client.spec.displayName,
    Type: (client) => client.spec.type,
    PKCE: { wide: (client) => client.spec.pkce },
  },
  strategy: {
    default(next, old, { now }) {
      next.status.secrets ??= [];
      next.internal ??= { secrets: [] };
      applyProfile(next.spec);
      next.status.conditions = conditionsOf(next.spec, old?.status.conditions, now);
    },
    validate: (next, _old, { settings }) => validate(next.metadata.name, next.spec, settings),
    beforeCommit(_tx, next, old) {
      if (next && !old && builtInClients.has(next.metadata.name))
        throw alreadyExists(named, next.metadata.name);
    },
  },
});

function validate(name: string, spec: Spec, settings: Settings): Cause[] {
  const causes: Cause[] = [];
  const wrong = (field: string, message: string): void => {
    causes.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${message}` });
  };
  if (name.length > 200) wrong('metadata.name', 'must have at most 200 characters');
  spec.redirectURIs.forEach((uri, i) => {
    for (const why of redirectFaults(uri, spec.applicationType).slice(0, 1))
      wrong(`spec.redirectURIs[${i}]`, why);
  });
  spec.postLogoutRedirectURIs.forEach((uri, i) => {
    for (const why of redirectFaults(uri, spec.applicationType).slice(0, 1))
      wrong(`spec.postLogoutRedirectURIs[${i}]`, why);
  });
  if (spec.jwks && spec.jwksURI) wrong('spec.jwksURI', 'only one of jwks and jwksURI may be given');
  if (spec.tokenEndpointAuthMethod === 'private_key_jwt' && !spec.jwks && !spec.jwksURI)
    wrong('spec.jwks', 'private_key_jwt needs jwks or jwksURI');
  if (
    (spec.type === 'Public') !==
    ((spec.tokenEndpointAuthMethod ?? (spec.type === 'Public' ? 'none' : 'client_secret_basic')) ===
      'none')
  )
    wrong(
      'spec.tokenEndpointAuthMethod',
      'none is for Public Clients, and they can use nothing else',
    );
  for (const field of ['backchannelLogoutURI', 'jwksURI'] as const)
    if (spec[field] !== undefined)
      causes.push(...outboundFaults(`spec.${field}`, spec[field], settings));
  for (const field of [
    'homepageURI',
    'policyURI',
    'termsURI',
    'logoURI',
    'initiateLoginURI',
  ] as const) {
    const uri = spec[field];
    if (uri && !isWeb(uri)) wrong(`spec.${field}`, 'must be an https address, or http on loopback');
    else if (uri?.includes('#') && field !== 'homepageURI')
      wrong(`spec.${field}`, 'must have no fragment');
  }
  spec.jwks?.keys.forEach((key, i) => {
    if (isPrivate(key))
      wrong(`spec.jwks.keys[${i}]`, 'must be a public key of type EC, RSA or OKP');
  });
  causes.push(...pairwiseFaults(spec), ...lifetimeFaults(spec), ...securityFaults(spec));
  return causes;
}

const isPrivate = (key: Record<string, unknown>): boolean =>
  !['EC', 'RSA', 'OKP'].includes(String(key.kty)) ||
  ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'].some((member) => member in key);

/**
 * A pairwise subject needs one host to be told by; without a redirect, keys that only its owner can
 * publish (OpenID Connect Core 8.1).
 */
function pairwiseFaults(spec: Spec): Cause[] {
  if (spec.subjectType !== 'pairwise') return [];
  const hosts = new Set(
    spec.redirectURIs.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri).host),
  );
  const keyed = spec.tokenEndpointAuthMethod === 'private_key_jwt' && spec.jwksURI !== undefined;
  if (hosts.size > 1)
    return [fault('spec.subjectType', 'all redirect URIs of a pairwise Client must have one host')];
  if (spec.grantTypes.includes('urn:ietf:params:oauth:grant-type:device_code') && !keyed)
    return [
      fault('spec.subjectType', 'pairwise with the device grant needs private_key_jwt and jwksURI'),
    ];
  return [];
}

/** What each lifetime of a Client may be, and why nothing else is taken. */
const lifetimeBounds = {
  accessToken: limitSettings.accessTokenLifetime,
  idToken: limitSettings.idTokenLifetime,
  refreshToken: limitSettings.refreshTokenLifetime,
  signIn: {
    ...limitSettings.sessionLifetime,
    min: '1m',
    max: '2160h',
    because: 'people would prove themselves without end, or never again',
  },
} satisfies Record<keyof NonNullable<Spec['lifetimes']>, LimitSetting>;

/**
 * Absurd lifetimes: ones that no Client could work with, and ones for which what is stolen counts
 * for too long.
 */
function lifetimeFaults({ lifetimes = {} }: Spec): Cause[] {
  return (Object.keys(lifetimeBounds) as (keyof typeof lifetimeBounds)[]).flatMap(
    (name): Cause[] => {
      if (lifetimes[name] === undefined) return [];
      const wrong = limitFault(lifetimeBounds[name], lifetimes[name]);
      return wrong === undefined ? [] : [fault(`spec.lifetimes.${name}`, `must be ${wrong}`)];
    },
  );
}

function isWeb(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    !url.username &&
    !url.password &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  );
}

function redirectFaults(text: string, applicationType: Spec['applicationType']): string[] {
  if (!URL.canParse(text)) return ['must be an absolute URI'];
  const url = new URL(text);
  const faults: string[] = [];
  if (url.hash || text.includes('#')) faults.push('must have no fragment');
  if (url.username || url.password) faults.push('must have no user information');
  if (text.includes('*')) faults.push('must have no wildcard');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    faults.push('http is for loopback only');
  if (
    !['https:', 'http:'].includes(url.protocol) &&
    (applicationType === 'web' || !url.protocol.includes('.'))
  )
    faults.push('a scheme of its own needs applicationType native and a dot in it (RFC 8252 7.1)');
  return faults;
}
