import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { fromDraft, toDraft } from '../../ui/console/base/draft.js';
import { fieldChanges, mergePatch, withValue } from '../../ui/console/base/merge.js';
import type { OpenAPI, Schema } from '../../ui/console/base/schema.js';
import { toYaml } from '../../ui/console/base/yaml.js';

const texts = [
  '',
  ' ',
  'plain',
  'two words',
  'yes',
  'No',
  'null',
  '~',
  '1',
  '1.5',
  '-',
  '- x',
  '# x',
  'a: b',
  'a #b',
  "it's",
  '"q"',
  '\\',
  '{x',
  '[x',
  '%x',
  '@x',
  '`x',
  '&x',
  '*x',
  '!x',
  '|',
  '>',
  '?',
  'x:',
  '2026-11-25',
  '0x1f',
  '1e3',
  'line\nline',
  'line\n',
  '\nline',
  ' x\ny',
  'x \ny\n\n',
  'tab\there',
  '\u0000\u007f\u0085',
  '\u2028',
  '\ufeff',
  'é漢字',
  '😀',
  '😀\n😀',
  'x\r\ny',
  '/path/a.b@c-d+e',
];

test.each([1, 2])('YAML of the console means what it was made of (1.%i)', (version) => {
  const value = {
    empty: {},
    none: [],
    flags: [true, false, null, 0, -1.5],
    nested: [{ a: [['x', ['y']], { b: { c: texts } }] }, [{ d: 1 }]],
    ...Object.fromEntries(texts.map((text) => [text || 'nothing', text])),
  };
  expect(parse(toYaml(value), { version: version === 1 ? '1.1' : '1.2' })).toEqual(value);
});

test('a merge patch changes and removes members, and takes lists whole', () => {
  expect(
    mergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1, 2] }, { a: 1, b: { c: 3 }, e: [2], f: {} }),
  ).toEqual({ b: { c: 3, d: null }, e: [2], f: {} });
});

test('a field that both changed to different values is a conflict', () => {
  const before = { same: 1, mine: 1, theirs: 1, both: 1, alike: 1, list: [1], deep: { a: 1 } };
  const mine = { ...before, mine: 2, both: 2, alike: 3, list: [2], deep: { a: 1, b: 1 } };
  const theirs = { ...before, theirs: 2, both: 3, alike: 3, list: [3], deep: { a: 2 } };
  const changes = fieldChanges(before, mine, theirs);
  expect(changes.map(({ path, isConflict }) => [path.join('.'), isConflict])).toEqual([
    ['mine', false],
    ['theirs', false],
    ['both', true],
    ['alike', false],
    ['list', true],
    ['deep.a', false],
    ['deep.b', false],
  ]);
  const merged = changes.reduce(
    (object, { path, mine: value }) => withValue(object, path, value),
    theirs as object as { readonly [name: string]: unknown },
  );
  expect(merged).toEqual(mine);
});

const document: OpenAPI = { paths: {}, components: { schemas: {} } };
const schema: Schema = {
  type: 'object',
  required: ['list'],
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    flag: { type: 'boolean' },
    list: { type: 'array', items: { type: 'string' } },
    optional: { type: 'array', items: { type: 'string' } },
    pairs: { type: 'object', additionalProperties: { type: 'string' } },
    deep: { type: 'object', properties: { inner: { type: 'string' } } },
    items: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
    any: { type: 'object', additionalProperties: {} },
  },
};

test.each([
  { list: [] },
  { text: '', list: ['a'], optional: [], deep: {} },
  { text: 'x', count: 0, flag: false, list: ['a', 'b'], pairs: { a: '1=2' }, items: [{ a: 'b' }] },
  { list: ['two\nlines'], pairs: { a: 'two\nlines' }, any: { x: [1, { y: null }] } },
  { list: [], unknown: { kept: true }, deep: { inner: 'x', also: 1 } },
])('an untouched form changes nothing of %j', (value) => {
  const { value: read, faults } = fromDraft(
    document,
    schema,
    toDraft(document, schema, value),
    value,
  );
  expect([read, faults.size]).toEqual([value, 0]);
});

test('what is empty is not sent, and what is wrong is named by its path', () => {
  const draft = toDraft(document, schema, undefined) as Record<string, string>;
  expect(fromDraft(document, schema, draft, undefined).value).toEqual({ list: [] });
  const { faults } = fromDraft(
    document,
    schema,
    { ...draft, count: 'x', any: '{', pairs: 'x' },
    undefined,
  );
  expect(Object.fromEntries(faults)).toEqual({
    count: 'console.wrong.number',
    any: 'console.wrong.json',
    pairs: 'console.wrong.pair',
  });
});
