import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ObjectOf, Settings, Transaction } from '../../../registry/kind.js';
import {
  type ConditionState,
  conditions,
  withTransitionTimes,
} from '../../../registry/schema/conditions.js';
import { mapList } from '../../../registry/schema/list-type.js';
import { invalidValue, requiredValue } from '../../../registry/status/field-errors.js';
import { alreadyExists, type Cause, forbidden } from '../../../registry/status/status.js';
import { alignLastApplied } from '../../../registry/store/secret-fields.js';
import { group } from '../../api-version.js';
import { defineKind } from '../../define-kind.js';
import { languageFaults } from '../../signin/language-faults.js';
import { isOperator } from '../../signin/operator-caller.js';
import { line, texts, webAddress } from '../../signin/schema-types.js';
import { outboundFaults } from './outbound-url.js';
import { parseAudienceScopeID } from './scope-id.js';
import {
  builtInProvider,
  builtInScopes,
  ClaimType,
  declaredScope,
  nameOf,
  reservedClaims,
} from './scopes.js';

const ClaimsProviderSpec = z.object({
  displayName: line(64).describe('Its display name.'),
  displayNames: texts(64, 'Its display name'),
  reviewURI: webAddress()
    .optional()
    .describe(
      'The URL of its claims review endpoint: https, or http on loopback while the base URL is ' +
        'loopback too. Required except for the built-in provider.',
    ),
  caBundle: z
    .string()
    .min(1)
    .max(65_536)
    .optional()
    .describe('CA certificates in PEM form that replace the public ones.'),
  timeoutMilliseconds: z
    .number()
    .int()
    .min(50)
    .max(2500)
    .default(2000)
    .describe('The timeout of a claims review in milliseconds.'),
  failurePolicy: z
    .enum(['Omit', 'Fail'])
    .default('Omit')
    .describe(
      'What happens if its claims cannot be fetched. Omit: they are left out. Fail: the request ' +
        'that needs them fails.',
    ),
  scopes: mapList(
    z.array(
      z.object({
        ...declaredScope('The scope (RFC 6749 §3.3).', 'What it is used for.'),
        claims: mapList(
          z.array(
            z.object({
              name: z
                .string()
                .max(128)
                .regex(
                  nameOf(
                    'A-Za-z0-9_.:/~-',
                    'must begin with a letter and consist of letters, digits and _ . : / ~ -',
                    '[A-Za-z]',
                  ),
                )
                .describe('The claim.'),
              title: line(64).describe('A short title.'),
              titles: texts(64, 'The title'),
              type: ClaimType.describe('The type of its value; values of other types are dropped.'),
            }),
          ),
          'name',
        )
          .max(32)
          .describe('The claims of the scope.'),
      }),
    ),
    'name',
  )
    .max(32)
    .describe('The scopes it supplies; each scope has exactly one provider.'),
});
type Spec = z.infer<typeof ClaimsProviderSpec>;

const named = { kind: 'ClaimsProvider', resource: 'claimsproviders', group };
const isBuiltIn = ({ metadata }: { metadata: { name: string } }): boolean =>
  metadata.name === builtInProvider.name;
const builtInNames: ReadonlySet<string> = new Set(builtInScopes.map(({ name }) => name));

/** The spec of the built-in provider: the scopes that this service supplies. */
export const builtInSpec: Spec = {
  displayName: builtInProvider.displayName,
  timeoutMilliseconds: 2000,
  failurePolicy: 'Omit',
  scopes: builtInScopes.map(({ name, title, description, sensitive, claims }) => ({
    name,
    title,
    description,
    sensitive,
    claims: claims.map((claim) => ({ ...claim })),
  })),
};

/** A service that supplies claims by responding to claims reviews. */
export const ClaimsProvider = defineKind({
  kind: 'ClaimsProvider',
  resource: 'claimsproviders',
  names: { v1alpha1: { 'spec.reviewURI': 'url' } },
  description:
    'A service that supplies claims by responding to claims reviews; the one named vestibule is built in.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: ClaimsProviderSpec,
  status: z.object({ conditions: conditions('Available').optional() }),
  unique: {
    scope: (provider) => (isBuiltIn(provider) ? [] : provider.spec.scopes.map(({ name }) => name)),
  },
  columns: {
    'Display-Name': (provider) => provider.spec.displayName,
    URL: (provider) => provider.spec.reviewURI ?? '',
  },
  strategy: {
    validate: (next, _old, { settings }) =>
      isBuiltIn(next)
        ? []
        : [
            ...urlFaults(next.spec.reviewURI, settings),
            ...certificateFaults(next.spec.caBundle),
            ...scopeFaults(next.spec),
            ...scopeNameFaults(next.spec),
            ...textFaults(next.spec),
          ],
    /** Only operators see the URL and the CA bundle, who set them, and whether it responds. */
    status(provider, { caller }) {
      if (isOperator(caller)) return;
      delete provider.spec.reviewURI;
      delete provider.spec.caBundle;
      delete provider.status.conditions;
      delete provider.metadata.managedFields;
      alignLastApplied(ClaimsProvider, provider, [['reviewURI'], ['caBundle']]);
    },
    beforeCommit(_tx, next, old, { caller, now }) {
      const {
        metadata: { name },
        spec,
      } = (next ?? old)!;
      if (
        name === builtInProvider.name &&
        (!next || caller.type !== 'System' || !isDeepStrictEqual(spec, builtInSpec))
      ) {
        throw forbidden('the built-in provider cannot be changed', named, name);
      }
      if (
        next &&
        name !== builtInProvider.name &&
        spec.scopes.some((scope) => builtInNames.has(scope.name))
      ) {
        throw alreadyExists(named, name, 'scope');
      }
      if (!next || (old?.status.conditions && isDeepStrictEqual(old.spec, spec))) return;
      const state = isBuiltIn(next) ? builtInState : notAskedState;
      next.status.conditions = withTransitionTimes([state], old?.status.conditions, now);
    },
  },
});

/** Returns the state of the condition Available. */
const availability = (
  status: ConditionState['status'],
  reason: string,
  message: string,
): ConditionState => ({ type: 'Available', status, reason, message });

const builtInState = availability('True', 'BuiltIn', 'This service supplies the scopes.');
const notAskedState = availability(
  'Unknown',
  'NotAsked',
  'No claims were requested since it changed.',
);

type ProviderObject = ObjectOf<typeof ClaimsProvider>;

/**
 * Records in the condition Available whether a provider responds, unless it was changed since the
 * reviews.
 */
export async function recordAvailability(
  tx: Transaction,
  { metadata }: ProviderObject,
  isAvailable: boolean,
  now: number,
): Promise<void> {
  const provider = await tx.get(ClaimsProvider, metadata.name);
  const isSame =
    provider?.metadata.uid === metadata.uid && provider.metadata.generation === metadata.generation;
  if (!isSame || availabilityOf(provider) === (isAvailable ? 'True' : 'False')) return;
  const state = isAvailable
    ? availability('True', 'Answered', 'It answered the last claims review.')
    : availability('False', 'Failing', 'Several claims reviews in a row failed.');
  await tx.update(ClaimsProvider, metadata.name, ({ status }) => {
    status.conditions = withTransitionTimes([state], status.conditions, now);
  });
}

/** Returns the status of the condition Available. */
export const availabilityOf = ({ status }: ProviderObject): ConditionState['status'] | undefined =>
  status.conditions?.find(({ type }) => type === 'Available')?.status;

const urlFaults = (url: string | undefined, settings: Settings): Cause[] =>
  url === undefined
    ? [requiredValue('spec.reviewURI')]
    : outboundFaults('spec.reviewURI', url, settings);

function certificateFaults(bundle: string | undefined): Cause[] {
  if (bundle === undefined) return [];
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const readable = blocks.every((block) => {
    try {
      return Boolean(new X509Certificate(block));
    } catch {
      return false;
    }
  });
  const remainder = blocks.reduce((left, block) => left.replace(block, ''), bundle);
  return blocks.length > 0 && readable && remainder.trim() === ''
    ? []
    : [invalidValue('spec.caBundle', 'must contain only certificates in PEM form')];
}

function textFaults({ displayNames, scopes }: Spec): Cause[] {
  return [
    ...languageFaults('spec.displayNames', displayNames),
    ...scopes.flatMap(({ titles, descriptions, claims }, i) => [
      ...languageFaults(`spec.scopes[${i}].titles`, titles),
      ...languageFaults(`spec.scopes[${i}].descriptions`, descriptions),
      ...claims.flatMap((claim, j) =>
        languageFaults(`spec.scopes[${i}].claims[${j}].titles`, claim.titles),
      ),
    ]),
  ];
}

/** Returns a cause for each scope whose name is the id of a scope of an Audience. */
function scopeNameFaults({ scopes }: Spec): Cause[] {
  return scopes.flatMap(({ name }, i) =>
    parseAudienceScopeID(name)
      ? [
          invalidValue(
            `spec.scopes[${i}].name`,
            'must not have the form <audience>/<scope>, which names a scope of an Audience',
          ),
        ]
      : [],
  );
}

function scopeFaults({ scopes }: Spec): Cause[] {
  return scopes.flatMap(({ claims }, i) =>
    claims.flatMap(({ name }, j) =>
      reservedClaims.has(name)
        ? [
            invalidValue(
              `spec.scopes[${i}].claims[${j}].name`,
              'is reserved for claims of this service',
            ),
          ]
        : [],
    ),
  );
}
