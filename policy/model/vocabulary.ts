import { principals } from '../../kinds/policy/principals.js';
import type { Action } from '../../registry/action.js';
import type { AnyKind } from '../../registry/kind.js';
import { attributeTypesOf } from './entity-attributes.js';

/** An entity type: the type its entities may be members of, and the Cedar type of each attribute. */
export interface EntityType {
  readonly description: string;
  readonly memberOf?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly owner?: string;
}

/**
 * An action: its action groups, the types it applies to, and the optional context attributes that
 * are always present.
 */
export interface ActionType {
  readonly description?: string;
  readonly groups: readonly string[];
  readonly principals: readonly string[];
  readonly resources: readonly string[];
  readonly alwaysPresent?: readonly string[];
}

/** Everything that rules may name, computed from the kinds and their actions. */
export interface Vocabulary {
  readonly types: ReadonlyMap<string, EntityType>;
  readonly actions: ReadonlyMap<string, ActionType>;
  /** Action groups with their descriptions. */
  readonly groups: ReadonlyMap<string, string>;
}

const builtIn: Readonly<Record<string, EntityType>> = {
  Anonymous: { description: 'Someone who is not signed in.', attributes: {} },
  Browser: {
    description:
      'A browser with the cookie of one sign-in in progress; its id is the Interaction’s name.',
    attributes: {},
  },
  Account: {
    description: 'A person; the id is the account’s name.',
    memberOf: 'Group',
    attributes: attributeTypesOf('Account'),
  },
  Group: { description: 'A group of accounts, by the addresses it lists.', attributes: {} },
  ClusterUser: {
    description:
      'A user of a cluster, vouched for by its front proxy; the id is the user’s name there.',
    memberOf: 'ClusterGroup',
    attributes: {},
  },
  ClusterGroup: {
    description:
      'A group of the cluster that a ClusterUser comes from, such as system:masters. It is never one of ours.',
    attributes: {},
  },
  Client: {
    description: 'A relying party; the id is its client_id.',
    attributes: attributeTypesOf('Client'),
  },
  Scope: {
    description:
      'What may be shared with a Client; the id is the scope, and <audience>/<scope> for one of an Audience.',
    attributes: attributeTypesOf('Scope'),
  },
  Path: {
    description:
      'An address that is no object: discovery, health, a page, an endpoint of the provider.',
    attributes: {},
  },
};

const readVerbs = new Set(['get', 'list', 'watch']);

const groupsOfVerb = (verb: string): string[] =>
  readVerbs.has(verb) ? ['read'] : ['write', 'change'];

const publicActions: Readonly<Record<string, string>> = {
  discovery: 'Reading what the API offers, its documents and its version.',
  health: 'Asking whether the service lives and is ready.',
  page: 'Opening one of the pages.',
  asset: 'Loading what a page is made of.',
  provider: 'Reaching the OpenID Connect provider.',
};

const otherActions: Readonly<Record<string, ActionType>> = {
  ...Object.fromEntries(
    Object.entries(publicActions).map(([name, description]) => [
      name,
      { description, groups: [], principals: ['Anonymous'], resources: ['Path'] },
    ]),
  ),
  register: {
    description:
      'Using a client_id that is the URL of a metadata document; asked before the document is fetched and at each use. The resource is the Client, and resource.host is the host of the URL.',
    groups: [],
    principals: ['Anonymous'],
    resources: ['Client'],
  },
  signUp: {
    description:
      'Becoming an Account, for an address just verified that has none: the principal is that Account, in the groups that list the address.',
    groups: [],
    principals: ['Account'],
    resources: ['Client'],
  },
  signIn: {
    description: 'Signing in to a Client; asked at login and whenever a live session is used.',
    groups: [],
    principals: ['Account'],
    resources: ['Client'],
    alwaysPresent: ['passkeys'],
  },
  share: {
    description: 'Sharing a scope with the Client in the context.',
    groups: [],
    principals: ['Account'],
    resources: ['Scope'],
    alwaysPresent: ['client', 'passkeys'],
  },
};

/**
 * Computes the vocabulary of the rules. Independent of particular kinds, except for the types of
 * principals.
 */
export function vocabularyOf(kinds: readonly AnyKind[], actions: readonly Action[]): Vocabulary {
  const types = new Map(Object.entries(builtIn));
  for (const kind of kinds) {
    const existing = types.get(kind.kind);
    types.set(kind.kind, {
      description: existing?.description ?? kind.description,
      ...(existing?.memberOf && { memberOf: existing.memberOf }),
      ...(kind.owner && { owner: kind.owner }),
      attributes: {
        ...(existing?.attributes ?? attributeTypesOf(kind.kind)),
        ...(kind.owner && { owner: 'Account' }),
        ...(kind.heldBy && { browser: 'Browser' }),
      },
    });
  }
  const actionTypes = new Map<string, ActionType>();
  const groups = new Map([
    ['read', 'get, list and watch'],
    ['write', 'create, update, patch, delete and deletecollection'],
    ['change', 'all of write, and every action on an object that may change something'],
  ]);
  const verbs = new Set(kinds.flatMap((kind) => kind.verbs));
  for (const verb of verbs) {
    actionTypes.set(verb, {
      groups: groupsOfVerb(verb),
      principals,
      resources: kinds.filter((kind) => kind.verbs.includes(verb)).map((kind) => kind.kind),
    });
  }
  for (const { of, subresource, verb, description } of actions.filter((action) =>
    kinds.includes(action.of),
  )) {
    const group = `${of.resource}/*`;
    groups.set(group, `every action on ${of.resource}`);
    if (!actionTypes.has(`${of.resource}/${subresource}`)) {
      actionTypes.set(`${of.resource}/${subresource}`, {
        description,
        groups: verb === 'get' ? [group] : [group, 'change'],
        principals,
        resources: [of.kind],
      });
    }
  }
  for (const [name, action] of Object.entries(otherActions)) {
    if (action.resources.every((type) => types.has(type))) actionTypes.set(name, action);
  }
  return { types, actions: actionTypes, groups };
}
