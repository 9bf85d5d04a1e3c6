import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { cedarSchema } from '../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { cedar } from './oracle.js';

const vocabulary = vocabularyOf(kinds, actions);
const page = readFileSync(join(import.meta.dirname, '../../docs/reference/policy.md'), 'utf8');

/** The rule that the page shows for each action. */
const examples = new Map(
  [...page.matchAll(/^### `([^`]+)`\n[^]*?^```cedar\n([^]*?)^```$/gm)].map(
    ([, action, rule]): [string, string] => [action!, rule!],
  ),
);

test('each action has an example about it, and no example is about something else', () => {
  expect([...examples.keys()].sort()).toEqual([...vocabulary.actions.keys()].sort());
  for (const [action, rule] of examples) expect(rule).toContain(`Action::"${action}"`);
});

test('every example is a valid rule that can apply', () => {
  const answer = cedar.validate({
    schema: cedarSchema(vocabulary),
    policies: { staticPolicies: Object.fromEntries(examples) },
  });
  expect(answer).toMatchObject({
    type: 'success',
    validationErrors: [],
    validationWarnings: [],
  });
});
