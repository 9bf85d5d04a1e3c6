import * as loaded from '@cedar-policy/cedar-wasm/nodejs';
import {
  AuthorizationRequest,
  wholeCollection,
  ownerOf,
} from '../../policy/model/authorization-request.js';
import { contextAttributes, type CedarValue } from '../../policy/model/context-attributes.js';
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
  constructor(vocabulary: Vocabulary, rules: ReadonlyMap<string, string>) {
    this.#vocabulary = vocabulary;
    const answer = cedar.preparsePolicySet('oracle', { staticPolicies: Object.fromEntries(rules) });
    if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
  }

  /** The decision with the rules that made it, as one line. */
  decide(question: AuthorizationAttributes): string {
    const asked = new AuthorizationRequest(question);
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
    const { types, actions } = this.#vocabulary;
    const known = new Map<string, Entity>();
    for (const [type, id] of [
      [asked.principalType, asked.principal],
      [asked.resourceType, asked.resource],
    ] as const) {
      const { attributes, owner } = types.get(type)!;
      const attrs: Record<string, CedarValue> = {};
      if (attributes['owner'])
        attrs['owner'] = {
          __entity: {
            type: 'Account',
            id: owner === 'metadata.name' || id === wholeCollection ? id : ownerOf(id, owner!),
          },
        };
      if (attributes['browser']) attrs['browser'] = { __entity: { type: 'Browser', id } };
      known.set(`${type} ${id}`, { uid: { type, id }, attrs, parents: [] });
    }
    const parent = types.get(asked.principalType)!.memberOf;
    if (parent)
      known
        .get(`${asked.principalType} ${asked.principal}`)!
        .parents.push(...asked.groups.map((id) => ({ type: parent, id })));
    const groups = actions.get(asked.action)?.groups ?? [];
    known.set('action', {
      uid: { type: 'Action', id: asked.action },
      attrs: {},
      parents: groups.map((id) => ({ type: 'Action', id })),
    });
    return [...known.values()];
  }
}
