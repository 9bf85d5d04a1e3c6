import { expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { cedarSchema } from '../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { defaultPolicy } from '../../policy/text/default-policy.js';
import { cedar } from '../policy/oracle.js';
import { vestibule } from '../support/command.js';

const vocabulary = vocabularyOf(kinds, actions);
const schema = cedarSchema(vocabulary);

test('policy prints the default policy', async () => {
  expect(await vestibule(['policy'], {})).toMatchObject({
    code: 0,
    out: defaultPolicy(vocabulary),
  });
});

test.each([
  ['policy', 'schema'],
  ['policy', 'schema', '-o', 'cedar'],
])('%s %s prints what policies may speak of', async (...args) => {
  expect(await vestibule(args, {})).toMatchObject({ code: 0, out: schema });
});

test('policy schema -o json prints it in Cedar’s JSON format', async () => {
  const { code, out } = await vestibule(['policy', 'schema', '-o', 'json'], {});
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual((cedar.schemaToJson(schema) as { json: object }).json);
});

test.each([
  [['policy', 'scheme'], 'usage: '],
  [['policy', 'schema', 'more'], 'usage: '],
  [['policy', '-o', 'json'], 'usage: '],
  [['policy', 'schema', '--verbose'], 'usage: '],
  [['policy', 'schema', '-o', 'yaml'], '-o must be cedar or json'],
  [['policy', 'prove', 'one', 'two'], 'usage: '],
  [['policy', 'prove', '--all'], 'usage: '],
])('%j is refused', async (args, message) => {
  const { code, error } = await vestibule(args, {});
  expect([code, error]).toEqual([2, expect.stringContaining(message)]);
});

test('policy prove says how to get the prover where it is absent', async () => {
  const { code, error } = await vestibule(['policy', 'prove'], {
    VESTIBULE_POLICY_PROVER: '/nowhere/prover',
  });
  expect([code, error]).toEqual([1, expect.stringContaining('hack/tools/policy-prover/build')]);
});

test('policy prove names a file that cannot be read', async () => {
  const { code, error } = await vestibule(['policy', 'prove', '/nowhere/policy.cedar'], {});
  expect([code, error]).toEqual([1, expect.stringContaining('/nowhere/policy.cedar')]);
});
