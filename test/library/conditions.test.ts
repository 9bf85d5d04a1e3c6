import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { conditions, kindsOf } from '../../apiserver/library/index.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { type Answer, group, LibraryServer, mediaTypes, verbs } from './fixture.js';

const Pond = kindsOf({ group, version: 'v1' })({
  kind: 'Pond',
  resource: 'ponds',
  description: 'Where people fish.',
  verbs,
  hasStatusSubresource: true,
  spec: z.object({}),
  status: z.object({ conditions: conditions('Ready').optional() }),
  columns: {},
});

/** A condition with every member of Kubernetes' metav1.Condition. */
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Fished',
  message: 'Two fish here.',
  observedGeneration: 1,
  lastTransitionTime: '2026-11-30T09:59:57Z',
};
const { observedGeneration: _, ...unobserved } = ready;

afterAll(stopAll);

describe.each(stores)('conditions that a controller writes on %s', (store) => {
  const library = new LibraryServer(store, [Pond]);

  async function create(): Promise<string> {
    const metadata = { name: library.newName() };
    expect((await library.ask('POST', 'v1/ponds', { metadata, spec: {} })).code).toBe(201);
    return `v1/ponds/${metadata.name}`;
  }
  const patch = (path: string, condition: object): Promise<Answer> =>
    library.ask(
      'PATCH',
      `${path}/status?fieldValidation=Strict`,
      { status: { conditions: [condition] } },
      mediaTypes.merge,
    );

  test.each([
    ['every member', ready],
    ['no observedGeneration', unobserved],
    ['a time with an offset', { ...ready, lastTransitionTime: '2026-11-30T10:59:57.25+01:00' }],
  ])('have %s', async (_, condition) => {
    const path = await create();
    const { code, body } = await patch(path, condition);
    expect([code, body.status]).toEqual([200, { conditions: [condition] }]);
    expect((await library.get(path)).status).toEqual({ conditions: [condition] });
  });

  test.each([
    ['a negative generation', 'observedGeneration', -1],
    ['half a generation', 'observedGeneration', 1.5],
    ['a status of its own', 'status', 'Yes'],
    ['a time without a zone', 'lastTransitionTime', '2026-11-30T09:59:57'],
  ])('never have %s', async (_, member, value) => {
    const { code, body } = await patch(await create(), { ...ready, [member]: value });
    expect([code, body.details.causes.map(({ field }: any) => field)]).toEqual([
      422,
      [`status.conditions[0].${member}`],
    ]);
  });
});
