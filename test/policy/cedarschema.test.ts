import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { describe, expect, test } from '@jest/globals';
import { kinds as present, actions as served } from '../../kinds/index.js';
import { cedarSchema } from '../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { actions, kinds } from './kinds.js';

interface Schema {
  entityTypes: Record<string, unknown>;
  actions: Record<
    string,
    {
      appliesTo?: { resourceTypes: string[]; principalTypes: string[] };
      memberOf?: { id: string }[];
    }
  >;
}

const read = (text: string): Schema => {
  const answer = cedar.schemaToJson(text);
  if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
  expect(answer.warnings).toEqual([]);
  return (answer.json as unknown as Record<string, Schema>)['']!;
};

describe.each([
  ['the kinds that are served', present, served],
  ['every kind of the contract', kinds, actions],
] as const)('the published schema of %s', (_, kinds, actions) => {
  const schema = read(cedarSchema(vocabularyOf(kinds, actions)));

  test('has an entity type for each kind and each kind of caller', () => {
    expect(Object.keys(schema.entityTypes)).toEqual(
      expect.arrayContaining([
        ...kinds.map(({ kind }) => kind),
        'Anonymous',
        'Browser',
        'Account',
        'ClusterUser',
        'Client',
        'Group',
        'ClusterGroup',
        'Scope',
        'Path',
      ]),
    );
  });

  test('has each verb on exactly the kinds that offer it, and each action on its kind', () => {
    for (const verb of [
      'get',
      'list',
      'watch',
      'create',
      'update',
      'patch',
      'delete',
      'deletecollection',
    ] as const) {
      expect(schema.actions[verb]!.appliesTo!.resourceTypes.sort()).toEqual(
        kinds
          .filter((kind) => kind.verbs.includes(verb))
          .map(({ kind }) => kind)
          .sort(),
      );
    }
    for (const { of, subresource } of actions) {
      expect(schema.actions[`${of.resource}/${subresource}`]!.appliesTo!.resourceTypes).toEqual([
        of.kind,
      ]);
    }
  });

  test('has the actions that are no verbs', () => {
    for (const name of ['discovery', 'health', 'page', 'asset', 'provider']) {
      expect(schema.actions[name]!.appliesTo).toMatchObject({
        resourceTypes: ['Path'],
        principalTypes: ['Anonymous'],
      });
    }
    expect(schema.actions['signIn']!.appliesTo).toMatchObject({
      resourceTypes: ['Client'],
      principalTypes: ['Account'],
    });
    expect(schema.actions['share']!.appliesTo).toMatchObject({
      resourceTypes: ['Scope'],
      principalTypes: ['Account'],
    });
    expect(schema.actions['get']!.memberOf).toEqual([{ id: 'read' }]);
  });
});

test('a new kind is in the schema without another word', () => {
  const lamp = {
    ...kinds[0]!,
    kind: 'Lamp',
    resource: 'lamps',
    verbs: ['get'] as const,
    bound: false,
    description: 'A lamp.',
  };
  expect(
    read(cedarSchema(vocabularyOf([...kinds, lamp], actions))).actions['get']!.appliesTo!
      .resourceTypes,
  ).toContain('Lamp');
});
