import { z } from 'zod';
import type { Texts } from '../../../i18n/local-text.js';
import type { ObjectOf } from '../../../registry/kind.js';
import { describePattern } from '../../../registry/schema/pattern.js';
import type { Account } from '../../people/account/account.js';
import { line, texts } from '../../signin/schema-types.js';

/** A value that a claim may have. */
export type ClaimValue = string | number | boolean | string[];

/** The type of a claim's value; `strings` is a list of strings. */
export const ClaimType = z.enum(['string', 'number', 'boolean', 'strings']);

/** The members that every object of JavaScript has: as a name they would have a value of their own. */
const inherited = Object.getOwnPropertyNames(Object.prototype).join('|');

/** Returns the pattern of a name that consists of `characters` and is none of those members. */
export const nameOf = (characters: string, what: string, first = '') =>
  describePattern(
    new RegExp(`^(?!(?:${inherited})$)${first}[${characters}]${first === '' ? '+' : '*'}$`),
    `${what}, and no member of every object, such as constructor`,
  );

/** Returns the schema of a scope name (RFC 6749 §3.3). */
export const scopeName = () =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(
      nameOf(
        '\\x21\\x23-\\x5b\\x5d-\\x7e',
        'must be printable ASCII without spaces, quotes and backslashes',
      ),
    );

/** Returns the members of a scope in a spec, with what its name and its description say. */
export const declaredScope = (name: string, description: string) => ({
  name: scopeName().describe(name),
  title: line(64).describe('A short title.'),
  titles: texts(64, 'The title'),
  description: line(500).describe(description),
  descriptions: texts(500, 'The description'),
  sensitive: z.boolean().default(false).describe('Sensitive: highlighted in the consent.'),
});

/** Returns the schema of a claim name. */
export const claimName = () =>
  z.string().min(1).max(128).regex(nameOf('\\x21-\\x7e', 'must be printable ASCII without spaces'));

/** A claim of a scope, as the consent shows it. */
interface ScopeClaim {
  readonly name: string;
  readonly title: string;
  readonly titles?: Texts | undefined;
  readonly type: z.infer<typeof ClaimType>;
}

/**
 * The person that claims are about: the account, its subject at the Client, and the names of its
 * groups.
 */
export interface Person {
  readonly account: ObjectOf<typeof Account>;
  readonly sub: string;
  readonly groups: readonly string[];
  /** What stands for a name that the person did not fill in; undefined if nothing does. */
  readonly nameFallback?: string | undefined;
}

/** An Audience as people see it. */
export interface AudienceSummary {
  readonly name: string;
  readonly displayName: string;
  readonly displayNames?: Texts | undefined;
  readonly operatedBy?: string | undefined;
  readonly homepageURI?: string | undefined;
}

/** A scope as the provider, consent and discovery use it (OpenID Connect Core §5.4). */
export interface Scope {
  readonly name: string;
  readonly title: string;
  readonly titles?: Texts | undefined;
  readonly description: string;
  readonly descriptions?: Texts | undefined;
  /** Sensitive scopes are highlighted in the consent. */
  readonly sensitive: boolean;
  readonly claims: readonly ScopeClaim[];
  /** The claims provider that supplies it. */
  readonly provider: {
    readonly name: string;
    readonly displayName: string;
    readonly displayNames?: Texts | undefined;
  };
  /** The Audience that it belongs to; its provider is who runs that. Absent for scopes of claims. */
  readonly audience?: AudienceSummary;
  /** What it permits, one sentence each, if it shares no claims. */
  readonly permissions?: readonly string[];
  /** The only Client that may request it; any Client if absent. */
  readonly onlyFor?: string;
  /**
   * Returns the claims of a person, without those that have no value; absent for scopes of claims
   * providers.
   */
  values?(person: Person): Record<string, ClaimValue>;
}

/** This service as the provider of its own scopes. */
export const builtInProvider = { name: 'vestibule', displayName: 'Vestibule' } as const;

const provider = builtInProvider;

const profileClaims = [
  ['name', 'Name', 'displayName'],
  ['given_name', 'Given name', 'givenName'],
  ['family_name', 'Family name', 'familyName'],
  ['middle_name', 'Middle name', 'middleName'],
  ['nickname', 'Nickname', 'nickname'],
  ['preferred_username', 'User name', 'preferredUsername'],
  ['profile', 'Profile page', 'profileURI'],
  ['picture', 'Picture', 'pictureURI'],
  ['website', 'Website', 'websiteURI'],
  ['gender', 'Gender', 'gender'],
  ['locale', 'Language', 'locale'],
  ['zoneinfo', 'Time zone', 'timeZone'],
  ['birthdate', 'Birth date', 'birthdate'],
] as const;

/**
 * Returns the claim `updated_at` (OpenID Connect Core §5.1) in seconds since the epoch; the
 * creation time if the profile never changed.
 */
const updatedAt = ({ metadata, status }: Person['account']): number =>
  Math.floor(Date.parse(status.profileTimestamp ?? metadata.creationTimestamp) / 1000);

/** The scopes that this service supplies. */
export const builtInScopes: readonly Scope[] = [
  {
    name: 'openid',
    title: 'Your identifier',
    sensitive: false,
    provider,
    description: 'Recognise you when you come back. The identifier says nothing about you.',
    claims: [{ name: 'sub', title: 'Identifier', type: 'string' }],
    values: ({ sub }) => ({ sub }),
  },
  {
    name: 'profile',
    title: 'Your profile',
    sensitive: false,
    provider,
    description: 'See the name and other details you put into your profile.',
    claims: [
      ...profileClaims.map(([name, title]) => ({ name, title, type: 'string' as const })),
      { name: 'updated_at', title: 'Last change', type: 'number' },
    ],
    values: ({ account, nameFallback: name }) => {
      const filled = profileClaims.flatMap(([name, , field]) => {
        const value = account.spec[field];
        return value === undefined ? [] : [[name, value]];
      });
      return {
        ...(name !== undefined && { name, preferred_username: name }),
        ...Object.fromEntries(filled),
        updated_at: updatedAt(account),
      };
    },
  },
  {
    name: 'email',
    title: 'Your email address',
    sensitive: false,
    provider,
    description: 'See your email address and that it is verified.',
    claims: [
      { name: 'email', title: 'Email address', type: 'string' },
      { name: 'email_verified', title: 'Verified', type: 'boolean' },
    ],
    values: ({ account: { status } }) => ({
      email: status.email.address,
      email_verified: status.email.verifiedTimestamp !== undefined,
    }),
  },
  {
    name: 'groups',
    title: 'Your groups',
    sensitive: false,
    provider,
    claims: [{ name: 'groups', title: 'Groups', type: 'strings' }],
    description: 'See which groups you are in.',
    values: ({ groups }): Record<string, ClaimValue> =>
      groups.length > 0 ? { groups: [...groups] } : {},
  },
  {
    name: 'offline_access',
    title: 'Access while you are away',
    sensitive: true,
    provider,
    claims: [],
    description: 'Keep its access after you have signed out, until you remove it here.',
    permissions: [
      'Go on while you are signed out, until you remove its access on your account page.',
    ],
    values: () => ({}),
  },
  {
    name: 'api',
    title: 'Use the API as you',
    sensitive: true,
    provider,
    claims: [],
    onlyFor: 'vestibule',
    description: 'Do everything here that you can do on the pages.',
    permissions: [
      'See your profile, your email address, where you are signed in and what was decided about you.',
      'Change your profile, sign you out elsewhere and take access away from apps.',
      'If you are an operator: see and change apps, groups, people’s accounts and the policy of this service.',
    ],
    values: () => ({}),
  },
];

/**
 * Returns the scopes that a sign-in to the Client requires: `openid`, those that its spec requires,
 * and the API for the command.
 */
export const scopesRequiredBy = (
  name: string,
  client:
    | { readonly spec: { readonly scopes: readonly { name: string; required: boolean }[] } }
    | undefined,
): ReadonlySet<string> =>
  new Set([
    'openid',
    ...builtInScopes.filter((scope) => scope.onlyFor === name).map((scope) => scope.name),
    ...(client?.spec.scopes.filter((scope) => scope.required).map((scope) => scope.name) ?? []),
  ]);

/**
 * Claims that only this service issues: those of tokens (RFC 7519 §4.1, OpenID Connect Core §2),
 * and its own claims of a person.
 */
export const reservedClaims: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'auth_time',
  'nonce',
  'acr',
  'amr',
  'azp',
  'at_hash',
  'c_hash',
  's_hash',
  'sid',
  'events',
  'cnf',
  'scope',
  'client_id',
  ...builtInScopes.flatMap(({ claims }) => claims.map(({ name }) => name)),
]);
