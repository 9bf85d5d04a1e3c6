import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kinds } from '../../kinds/index.js';
import { toJSONSchema } from '../../registry/schema/schema.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';

/** Hooks meet a spec before the schema has checked it: no value may lead to an internal error. */
const values = [null, true, 7, 'x', [], [null], [[]], [{}], {}, { x: null }];

let service: TestService;
let operator: Tab;
beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '100000'],
  });
  await createClient(service, 'app');
  ({ tab: operator } = await signIn(service, 'op@example.test'));
});
afterAll(stopAll);

/** The specs that have one value at one place, and the values instead of a spec. */
function specsOf(spec: (typeof kinds)[number]['spec']): unknown[] {
  const fields = Object.keys(toJSONSchema(spec, 'spec').properties ?? {});
  return [...values, ...fields.flatMap((field) => values.map((value) => ({ [field]: value })))];
}

const able = (verb: 'create' | 'patch') =>
  kinds.filter(({ verbs }) => verbs.includes(verb)).map((kind) => [kind.kind, kind] as const);

test.each(able('create'))('no wrong type in a new %s is an internal error', async (_, kind) => {
  for (const spec of specsOf(kind.create?.spec ?? kind.spec)) {
    const body = { ...(kind.nameSource !== 'service' && { metadata: { name: 'odd' } }), spec };
    const { code } = await operator.post(kind.resource, body);
    expect({ spec, code, isInternal: code >= 500 }).toEqual({ spec, code, isInternal: false });
  }
});

test.each(able('patch'))('no wrong type in a patch of %s is an internal error', async (_, kind) => {
  const { body } = await operator.get(kind.resource).is(200);
  const names: string[] = body.items.map(({ metadata }: any) => metadata.name);
  for (const name of names.slice(0, 1)) {
    for (const spec of specsOf(kind.spec)) {
      const { code } = await operator.patch(`${kind.resource}/${name}?dryRun=All`, { spec });
      expect({ spec, code, isInternal: code >= 500 }).toEqual({ spec, code, isInternal: false });
    }
  }
});
