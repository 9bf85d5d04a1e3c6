import { z } from 'zod';
import type { KindObject, Transaction } from '../../../registry/kind.js';
import { type LimitSetting, limitFault } from '../../../registry/limits/limit-settings.js';
import { mapList, setList } from '../../../registry/schema/list-type.js';
import { describePattern } from '../../../registry/schema/pattern.js';
import { durationText } from '../../../registry/schema/units.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { type Cause, invalid } from '../../../registry/status/status.js';
import { group } from '../../api-version.js';
import { defineKind } from '../../define-kind.js';
import { limitSettings } from '../../limits/limit-settings.js';
import { languageFaults } from '../../signin/language-faults.js';
import { line, texts, webAddress } from '../../signin/schema-types.js';
import { isWebUrl } from '../../signin/web-url.js';
import { builtInProvider, builtInScopes, claimName, declaredScope } from '../claims/scopes.js';
import { Client } from '../client/client.js';
import { identifierFault } from './identifier.js';

const AudienceSpec = z.object({
  identifier: z
    .string()
    .min(1)
    .max(512)
    .regex(
      describePattern(
        /^[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/,
        'must be printable ASCII without spaces, fragment and characters that a URI encodes',
      ),
    )
    .describe(
      'What the parameter resource names (RFC 8707 §2), compared character by character, and the ' +
        'aud of its tokens: an https or urn URI without fragment, or http on loopback. It cannot be ' +
        'changed.',
    ),
  displayName: line(64).describe('Its display name.'),
  displayNames: texts(64, 'Its display name'),
  operatedBy: line(64).optional().describe('Who runs it, as the consent shows it.'),
  homepageURI: webAddress().optional().describe('Home page.'),
  scopes: mapList(
    z.array(
      z.object({
        ...declaredScope(
          'The scope (RFC 6749 §3.3), unique within the Audience.',
          'What it permits.',
        ),
      }),
    ),
    'name',
  )
    .min(1)
    .max(32)
    .describe('Its scopes. Rules of the policy name one as Scope::"<audience>/<scope>".'),
  accessTokenFormat: z
    .enum(['Opaque', 'JWT'])
    .default('Opaque')
    .describe(
      'The format of its access tokens. Opaque: it introspects them (RFC 7662), so a revocation takes ' +
        'effect at once. JWT: it validates them itself (RFC 9068), and they are valid until they expire.',
    ),
  tokenSigningAlg: z
    .enum(['ES256', 'RS256'])
    .default('ES256')
    .describe('The signature algorithm of its tokens in the format JWT.'),
  accessTokenLifetime: z
    .string()
    .regex(durationText)
    .default('5m')
    .describe('The lifetime of its access tokens, from 1m to 24h, in the format JWT to 1h.'),
  introspectors: setList(z.array(z.string().min(1).max(253)))
    .max(20)
    .optional()
    .describe(
      'The Clients that may introspect its access tokens, such as its own. They must exist.',
    ),
  claims: setList(z.array(claimName()))
    .max(20)
    .optional()
    .describe(
      'The claims that its tokens in the format JWT and introspections contain (RFC 9068 §2.2.2), such as ' +
        'email and groups, of the scopes that the person agreed to share with the Client.',
    ),
  clientsByDocument: z
    .boolean()
    .default(false)
    .describe(
      'Any Client with a metadata document that policy permits may request it, too. Such a Client ' +
        'lists no Audiences.',
    ),
});
export type AudienceSpec = z.infer<typeof AudienceSpec>;

/** An Audience as the server holds it. */
export type AudienceObject = KindObject<AudienceSpec, object>;

const named = { kind: 'Audience', resource: 'audiences', group };

/** A service that accepts access tokens of this one (RFC 8707, RFC 9068). */
export const Audience = defineKind({
  kind: 'Audience',
  resource: 'audiences',
  names: { v1alpha1: { 'spec.accessTokenFormat': 'tokenForm' } },
  cached: true,
  description: 'A service that accepts access tokens of this one, with the scopes it knows.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: AudienceSpec,
  status: z.object({}),
  unique: { identifier: ({ spec }) => spec.identifier.replace(/\/$/, '') },
  columns: {
    'Display-Name': ({ spec }) => spec.displayName,
    Identifier: ({ spec }) => spec.identifier,
    Tokens: ({ spec }) => spec.accessTokenFormat,
  },
  strategy: {
    validate: ({ metadata, spec }, old, { settings }) => [
      ...nameFaults(metadata.name),
      ...identifierFaults(spec, old?.spec, settings.baseURL),
      ...lifetimeFaults(spec),
      ...scopeFaults(spec),
      ...textFaults(spec),
      ...(spec.homepageURI === undefined || isWebUrl(spec.homepageURI)
        ? []
        : [invalidValue('spec.homepageURI', 'must be an https address, or http on loopback')]),
    ],
    async beforeCommit(tx, next, old) {
      if (!next) return;
      await assertIntrospectorsExist(tx, next, old);
    },
  },
});

/** The longest name, so that it fits into the names of its scopes. */
const maxNameLength = 100;

function nameFaults(name: string): Cause[] {
  if (name === builtInProvider.name) {
    return [invalidValue('metadata.name', 'must not be the name of this service')];
  }
  return name.length > maxNameLength
    ? [invalidValue('metadata.name', `must have at most ${maxNameLength} characters`)]
    : [];
}

function identifierFaults(
  { identifier }: AudienceSpec,
  old: AudienceSpec | undefined,
  baseURL: string,
): Cause[] {
  if (old) {
    return identifier === old.identifier
      ? []
      : [invalidValue('spec.identifier', 'field is immutable')];
  }
  const fault = identifierFault(identifier, baseURL);
  return fault === undefined ? [] : [invalidValue('spec.identifier', fault)];
}

/** The bounds of the lifetime of tokens by their form, with the reason. */
const lifetimeBounds: Readonly<Record<AudienceSpec['accessTokenFormat'], LimitSetting>> = {
  Opaque: limitSettings.accessTokenLifetime,
  JWT: {
    ...limitSettings.accessTokenLifetime,
    min: '1m',
    max: '1h',
    because: 'a JWT cannot be revoked before it expires',
  },
};

function lifetimeFaults({ accessTokenFormat, accessTokenLifetime }: AudienceSpec): Cause[] {
  const fault = limitFault(lifetimeBounds[accessTokenFormat], accessTokenLifetime);
  return fault === undefined ? [] : [invalidValue('spec.accessTokenLifetime', `must be ${fault}`)];
}

const builtInNames: ReadonlySet<string> = new Set(builtInScopes.map(({ name }) => name));

const scopeFaults = ({ scopes }: AudienceSpec): Cause[] =>
  scopes.flatMap(({ name }, i) =>
    builtInNames.has(name)
      ? [invalidValue(`spec.scopes[${i}].name`, 'is a scope of this service')]
      : [],
  );

const textFaults = ({ displayNames, scopes }: AudienceSpec): Cause[] => [
  ...languageFaults('spec.displayNames', displayNames),
  ...scopes.flatMap(({ titles, descriptions }, i) => [
    ...languageFaults(`spec.scopes[${i}].titles`, titles),
    ...languageFaults(`spec.scopes[${i}].descriptions`, descriptions),
  ]),
];

/**
 * Throws 422 for introspectors that are no Clients. One that the Audience had before stays when its
 * Client is deleted.
 */
async function assertIntrospectorsExist(
  tx: Transaction,
  { metadata, spec }: AudienceObject,
  old: AudienceObject | undefined,
): Promise<void> {
  const causes: Cause[] = [];
  for (const [i, name] of (spec.introspectors ?? []).entries()) {
    if (!old?.spec.introspectors?.includes(name) && !(await tx.get(Client, name))) {
      causes.push(
        invalidValue(`spec.introspectors[${i}]`, 'must be the name of a Client that exists'),
      );
    }
  }
  if (causes.length > 0) throw invalid(named, metadata.name, causes);
}
