import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defineKind, group, type Settings } from '../../registry/kind.js';
import { alreadyExists, forbidden, type Cause } from '../../registry/status.js';
import { isOperator } from '../group/group.js';
import { fault, outboundFaults } from './outbound-url.js';
import { builtInProvider, builtInScopes, ClaimType, reservedClaims, scopeName } from './scopes.js';
import { line, webAddress } from '../signin/schema-types.js';
import { describePattern } from '../../registry/pattern.js';

const ClaimsProviderSpec = z.object({
  displayName: line(64).describe('Its name for people.'),
  url: webAddress()
    .optional()
    .describe(
      'Where it answers claims reviews: https, or http on loopback while this service is there ' +
        'too. Only the built-in one has none.',
    ),
  caBundle: z
    .string()
    .min(1)
    .max(65_536)
    .optional()
    .describe('Certificates it is trusted by in place of the public ones, in PEM form.'),
  timeoutMilliseconds: z
    .number()
    .int()
    .min(50)
    .max(2500)
    .default(2000)
    .describe('How long its answer is waited for.'),
  failurePolicy: z
    .enum(['Omit', 'Fail'])
    .default('Omit')
    .describe(
      'What becomes of an answer that needs its claims when they cannot be fetched: they are ' +
        'left out, or the answer fails.',
    ),
  scopes: z
    .array(
      z.object({
        name: scopeName().describe('Scope (RFC 6749 3.3).'),
        title: line(64).describe('What it is, in a few words.'),
        description: line(500).describe('What it is for.'),
        sensitive: z
          .boolean()
          .default(false)
          .describe('Highlighted in the consent, because it is sensitive.'),
        claims: z
          .array(
            z.object({
              name: z
                .string()
                .max(128)
                .regex(
                  describePattern(
                    /^[A-Za-z][A-Za-z0-9_.:/~-]*$/,
                    'must begin with a letter and consist of letters, digits and _ . : / ~ -',
                  ),
                )
                .describe('Claim.'),
              title: line(64).describe('What it is called.'),
              type: ClaimType.describe('What its value is; any other is left out.'),
            }),
          )
          .max(32)
          .describe('What it consists of.'),
      }),
    )
    .max(32)
    .describe('Scopes it supplies; each has exactly one provider.'),
});
type Spec = z.infer<typeof ClaimsProviderSpec>;

const named = { kind: 'ClaimsProvider', resource: 'claimsproviders', group };
const isBuiltIn = ({ metadata }: { metadata: { name: string } }): boolean =>
  metadata.name === builtInProvider.name;
const builtInNames: ReadonlySet<string> = new Set(builtInScopes.map(({ name }) => name));

/** What the built-in provider's object says: the scopes this service supplies itself. */
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

/** A service that supplies claims of scopes, by answering claims reviews. */
export const ClaimsProvider = defineKind({
  kind: 'ClaimsProvider',
  resource: 'claimsproviders',
  description:
    'A service that supplies claims, by answering claims reviews; the one named vestibule is built in.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: ClaimsProviderSpec,
  status: z.object({}),
  unique: {
    scope: (provider) => (isBuiltIn(provider) ? [] : provider.spec.scopes.map(({ name }) => name)),
  },
  columns: {
    'Display-Name': (provider) => provider.spec.displayName,
    URL: (provider) => provider.spec.url ?? '',
  },
  strategy: {
    validate: (next, _old, { settings }) =>
      isBuiltIn(next)
        ? []
        : [
            ...urlFaults(next.spec.url, settings),
            ...certificateFaults(next.spec.caBundle),
            ...scopeFaults(next.spec),
          ],
    /**
     * Where it is and whom it is trusted by is the operators' business, also where a manifest left
     * it in an annotation.
     */
    status(provider, { caller }) {
      if (isOperator(caller)) return;
      delete provider.spec.url;
      delete provider.spec.caBundle;
      if (provider.metadata.annotations)
        provider.metadata.annotations = withoutManifest(provider.metadata.annotations);
    },
    beforeCommit(_tx, next, old, { caller }) {
      const {
        metadata: { name },
        spec,
      } = (next ?? old)!;
      if (
        name === builtInProvider.name &&
        (!next || caller.type !== 'System' || !isDeepStrictEqual(spec, builtInSpec))
      )
        throw forbidden('the built-in provider cannot be changed', named, name);
      if (
        next &&
        name !== builtInProvider.name &&
        spec.scopes.some((scope) => builtInNames.has(scope.name))
      )
        throw alreadyExists(named, name, 'scope');
    },
  },
});

/** In which kubectl keeps the manifest that it applied last, whole. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const withoutManifest = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== lastApplied));

const urlFaults = (url: string | undefined, settings: Settings): Cause[] =>
  url === undefined
    ? [{ reason: 'FieldValueRequired', field: 'spec.url', message: 'Required value' }]
    : outboundFaults('spec.url', url, settings);

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
  const rest = blocks.reduce((left, block) => left.replace(block, ''), bundle);
  return blocks.length > 0 && readable && rest.trim() === ''
    ? []
    : [fault('spec.caBundle', 'must hold certificates in PEM form and nothing else')];
}

function scopeFaults({ scopes }: Spec): Cause[] {
  return scopes.flatMap((scope, i) => [
    ...(scopes.findIndex(({ name }) => name === scope.name) < i
      ? [fault(`spec.scopes[${i}].name`, 'stands here twice')]
      : []),
    ...scope.claims.flatMap((claim, j) => {
      if (reservedClaims.has(claim.name))
        return [
          fault(`spec.scopes[${i}].claims[${j}].name`, 'only this service says that of a person'),
        ];
      return scope.claims.findIndex(({ name }) => name === claim.name) < j
        ? [fault(`spec.scopes[${i}].claims[${j}].name`, 'stands here twice')]
        : [];
    }),
  ]);
}
