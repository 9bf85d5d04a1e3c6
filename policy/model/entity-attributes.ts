import type { AccessRequestFacts } from '../../kinds/access/accessrequest/policy-facts.js';
import type { ClientFacts } from '../../kinds/apps/client/policy-facts.js';
import type { EntityFacts } from '../../registry/authorizer.js';
import type { CedarValue } from './cedar-value.js';

/** The facts about a scope that rules may use. */
export interface ScopeFacts {
  readonly sensitive: boolean;
  /** The name of its ClaimsProvider; empty for a scope of an Audience. */
  readonly provider: string;
  /** The name of its Audience; empty for a scope of claims. */
  readonly audience: string;
}

/** The facts about an Account that rules may use. */
export interface AccountFacts {
  /** Sorted by name. */
  readonly groups: readonly string[];
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly passkeys: number;
  readonly emailDomain: string;
}

/** An attribute of an entity type that is a fact about the entity. */
interface EntityAttribute<F> {
  /** Its type in the published schema. */
  readonly type: 'Bool' | 'Long' | 'String' | 'Set<String>' | 'datetime';
  readonly description: string;
  /** All values that it can have; absent if any text is possible. */
  readonly values?: readonly string[];
  /** True if everyone may know it. */
  readonly isPublic?: true;
  /** Returns its value; without facts that of an entity which does not exist. */
  read(facts: F | undefined): CedarValue;
}

const datetime = (ms: number): CedarValue => ({
  __extn: { fn: 'datetime', arg: new Date(ms).toISOString() },
});

const ofClient: Readonly<Record<string, EntityAttribute<ClientFacts>>> = {
  firstParty: {
    type: 'Bool',
    description: 'Whether the operator of this service operates it.',
    isPublic: true,
    read: (facts) => facts?.firstParty ?? false,
  },
  type: {
    type: 'String',
    description: 'Public or Confidential.',
    values: ['Public', 'Confidential'],
    isPublic: true,
    read: (facts) => facts?.type ?? '',
  },
  host: {
    type: 'String',
    description:
      'The host of its home page or, without one, of its first redirect URI. If it has a metadata ' +
      'document: the host of the document’s URL, with the port unless that is 443.',
    isPublic: true,
    read: (facts) => facts?.host ?? '',
  },
  groups: {
    type: 'Set<String>',
    description: 'The Groups that it belongs to (spec.groups).',
    read: (facts) => [...(facts?.groups ?? [])],
  },
  conditions: {
    type: 'Set<String>',
    description: 'The types of its conditions that are true, such as Ready.',
    isPublic: true,
    read: (facts) => [...(facts?.conditions ?? [])],
  },
};

const ofScope: Readonly<Record<string, EntityAttribute<ScopeFacts>>> = {
  sensitive: {
    type: 'Bool',
    description: 'Whether it is shown as sensitive.',
    isPublic: true,
    read: (facts) => facts?.sensitive ?? false,
  },
  provider: {
    type: 'String',
    description:
      'The name of the ClaimsProvider that supplies it, or an empty string for a scope of an Audience.',
    isPublic: true,
    read: (facts) => facts?.provider ?? '',
  },
  audience: {
    type: 'String',
    description:
      'The name of the Audience that it belongs to, or an empty string for a scope of claims.',
    isPublic: true,
    read: (facts) => facts?.audience ?? '',
  },
};

const ofAccount: Readonly<Record<string, EntityAttribute<AccountFacts>>> = {
  groups: {
    type: 'Set<String>',
    description: 'The names of its Groups.',
    read: (facts) => [...(facts?.groups ?? [])],
  },
  created: {
    type: 'datetime',
    description: 'When it was created; for signUp, the time of the request.',
    read: (facts) => datetime(facts?.created ?? 0),
  },
  passkeys: {
    type: 'Long',
    description: 'How many passkeys it has.',
    read: (facts) => facts?.passkeys ?? 0,
  },
  emailDomain: {
    type: 'String',
    description: 'The domain of its address, in lower case; never the address.',
    read: (facts) => facts?.emailDomain ?? '',
  },
};

const ofAccessRequest: Readonly<Record<string, EntityAttribute<AccessRequestFacts>>> = {
  group: {
    type: 'String',
    description: 'The name of the Group that it asks for.',
    read: (facts) => facts?.group ?? '',
  },
};

/** The facts about entities that rules may use, by entity type and attribute. */
export const entityAttributes: Readonly<
  Record<string, Readonly<Record<string, EntityAttribute<EntityFacts>>>>
> = {
  Client: ofClient,
  Scope: ofScope,
  Account: ofAccount,
  AccessRequest: ofAccessRequest,
} as never;

/** The names of all of them. */
export const entityAttributeNames: ReadonlySet<string> = new Set(
  Object.values(entityAttributes).flatMap((entityAttribute) => Object.keys(entityAttribute)),
);

/** Returns an attribute of an entity type; ignores inherited properties. */
export function findEntityAttribute(
  type: string,
  name: string,
): EntityAttribute<EntityFacts> | undefined {
  const attributes = Object.hasOwn(entityAttributes, type) ? entityAttributes[type]! : undefined;
  return attributes && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** Returns the types of the attributes of an entity type. */
export const attributeTypesOf = (type: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(entityAttributes[type] ?? {}).map(([name, attribute]) => [name, attribute.type]),
  );
