import * as loaded from '@cedar-policy/cedar-wasm/nodejs';
import {
  AuthorizationRequest,
  type DecisionEnvironment,
  ownerOf,
  wholeCollection,
} from '../../policy/model/authorization-request.js';
import type { CedarValue } from '../../policy/model/cedar-value.js';
import { contextAttributes } from '../../policy/model/context-attributes.js';
import { entityAttributes } from '../../policy/model/entity-attributes.js';
import type { Vocabulary } from '../../policy/model/vocabulary.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';

/** Cedar, for anyone who checks the engine. */
export const cedar: typeof loaded = loaded;

interface Entity {
  uid: { type: string; id: string };
  attrs: Record<string, CedarValue>;
  parents: { type: string; id: string }[];
}

/**
 * What Cedar itself says: the whole text, every entity and every fact, nothing rewritten and
 * nothing remembered.
 */
export class Oracle {
  readonly #vocabulary: Vocabulary;
  readonly #environment: DecisionEnvironment;
  constructor(
    vocabulary: Vocabulary,
    rules: ReadonlyMap<string, string>,
    environment: DecisionEnvironment = {},
  ) {
    this.#vocabulary = vocabulary;
    this.#environment = environment;
    const answer = cedar.preparsePolicySet('oracle', { staticPolicies: Object.fromEntries(rules) });
    if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
  }

  /** The decision with the rules that made it, as one line. */
  decide(question: AuthorizationAttributes): string {
    const asked = new AuthorizationRequest(question, this.#environment);
    const [principal, action, resource] = [
      { type: asked.principalType, id: asked.principal },
      { type: 'Action', id: asked.action },
      { type: asked.resourceType, id: asked.resource },
    ];
    const context: Record<string, CedarValue> = {};
    for (const [name, { read }] of Object.entries(contextAttributes)) {
      const value = read(asked);
      if (value !== undefined) context[name] = value;
    }
    const answer = cedar.statefulIsAuthorized({
      principal,
      action,
      resource,
      context,
      entities: this.#entities(asked),
      preparsedPolicySetId: 'oracle',
    });
    if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
    const {
      decision,
      diagnostics: { reason, errors },
    } = answer.response;
    return errors.length > 0
      ? 'false error'
      : `${decision === 'allow'} ${[...reason].sort().join(',') || 'default'}`;
  }

  #entities(asked: AuthorizationRequest): Entity[] {
    const { actions } = this.#vocabulary;
    const known = new Map<string, Entity>();
    const add = (type: string, id: string): void => {
      if (known.has(`${type} ${id}`)) return;
      const entity = this.#entity(asked, type, id);
      known.set(`${type} ${id}`, entity);
      const owner = entity.attrs['owner'] as { __entity: { type: string; id: string } } | undefined;
      if (owner) add(owner.__entity.type, owner.__entity.id);
    };
    add(asked.principalType, asked.principal);
    add(asked.resourceType, asked.resource);
    const client = contextAttributes['client']!.id!(asked);
    if (client !== undefined) add('Client', client);
    known.set('action', {
      uid: { type: 'Action', id: asked.action },
      attrs: {},
      parents: (actions.get(asked.action)?.groups ?? []).map((id) => ({ type: 'Action', id })),
    });
    return [...known.values()];
  }

  #entity(asked: AuthorizationRequest, type: string, id: string): Entity {
    const { attributes, owner, memberOf } = this.#vocabulary.types.get(type)!;
    const attrs: Record<string, CedarValue> = {};
    if (attributes['owner']) {
      attrs['owner'] = {
        __entity: {
          type: 'Account',
          id: owner === 'metadata.name' || id === wholeCollection ? id : ownerOf(id, owner!),
        },
      };
    }
    if (attributes['browser']) attrs['browser'] = { __entity: { type: 'Browser', id } };
    const facts = entityAttributes[type] && asked.entity(type, id);
    for (const [name, { read }] of Object.entries(entityAttributes[type] ?? {})) {
      attrs[name] = read(facts);
    }
    const isPrincipal = type === asked.principalType && id === asked.principal;
    const groups = isPrincipal ? asked.groups : ((facts?.['groups'] ?? []) as readonly string[]);
    const parents = memberOf ? groups.map((group) => ({ type: memberOf, id: group })) : [];
    return { uid: { type, id }, attrs, parents };
  }
}
