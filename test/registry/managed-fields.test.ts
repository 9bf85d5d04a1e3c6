import { describe, expect, test } from '@jest/globals';
import { compareValues } from '../../registry/managedfields/compare.js';
import { FieldSet } from '../../registry/managedfields/field-set.js';
import { decodeFields, encodeFields } from '../../registry/managedfields/fields-v1.js';
import {
  type ManagedFields,
  mergeConfiguration,
  ownersAfterApply,
  ownersAfterUpdate,
} from '../../registry/managedfields/managers.js';
import { mergeValues } from '../../registry/managedfields/merge.js';
import { formatPath } from '../../registry/managedfields/path-element.js';
import { fieldSetOf } from '../../registry/managedfields/typed-value.js';
import type { JSONSchema } from '../../registry/schema/schema.js';
import fc from '../support/fast-check.js';

const text: JSONSchema = { type: 'string' };
const set = (items: JSONSchema): JSONSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'set',
});
const object = (properties: Record<string, JSONSchema>): JSONSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
});
const map = (additionalProperties: JSONSchema): JSONSchema => ({
  type: 'object',
  additionalProperties,
});
const schema = object({
  text,
  number: { type: 'number' },
  atomic: { type: 'array', items: text },
  set: set(text),
  numbers: set({ type: 'number' }),
  flags: set({ type: 'boolean' }),
  items: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: object({ name: text, value: { type: 'number' }, set: set(text), map: map(text) }),
  },
  pairs: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key', 'id'],
    items: object({ key: text, id: { type: 'number', default: 0 }, value: map(text) }),
  },
  struct: object({ name: text, value: { type: 'number' } }),
  atomicStruct: {
    ...object({ name: text, value: { type: 'number' } }),
    'x-kubernetes-map-type': 'atomic',
  },
  labels: map(text),
  maps: map(map(text)),
  sets: map(set(text)),
});

/** Who owns what, as FieldsV1, by `manager Operation`. */
const shown = (owners: readonly ManagedFields[]): Record<string, unknown> =>
  Object.fromEntries(
    owners.map(({ manager, operation, fields }) => [
      `${manager} ${operation}`,
      encodeFields(fields),
    ]),
  );

interface Step {
  apply?: object;
  update?: object;
  by: string;
  force?: true;
  conflicts?: string[];
}

function run(steps: readonly Step[]): { live: unknown; owners: readonly ManagedFields[] } {
  let live: unknown = {};
  let owners: readonly ManagedFields[] = [];
  for (const { apply, update, by, force = false, conflicts } of steps) {
    if (update) {
      owners = ownersAfterUpdate(schema, live, update, owners, { manager: by });
      live = update;
      continue;
    }
    const object = mergeConfiguration(schema, live, apply!, owners, by) ?? {};
    const applied = ownersAfterApply(schema, live, object, owners, by, {
      applied: fieldSetOf(schema, apply!),
      force,
    });
    expect(applied.conflicts?.map(({ manager, field }) => `${manager}: ${field}`)).toEqual(
      conflicts,
    );
    if (!applied.conflicts) [owners, live] = [applied.owners, object];
  }
  return { live, owners };
}

const f = {};
const item = (name: string, more: object = {}): object => ({
  [`k:{"name":"${name}"}`]: { '.': f, 'f:name': f, ...more },
});

/** The facts are those of structured-merge-diff's tests: merge/{leaf,set,key,nested,multiple}. */
describe('owners', () => {
  test.each<[string, Step[], unknown, object]>([
    [
      'apply twice',
      [
        { by: 'a', apply: { number: 1, text: 'x' } },
        { by: 'a', apply: { number: 2, text: 'x', atomic: ['y'] } },
      ],
      { number: 2, text: 'x', atomic: ['y'] },
      { 'a Apply': { 'f:number': f, 'f:text': f, 'f:atomic': f } },
    ],
    [
      'apply beside an update of other fields',
      [
        { by: 'a', apply: { text: 'x' } },
        { by: 'b', update: { text: 'x', number: 1 } },
        { by: 'a', apply: { text: 'y' } },
      ],
      { text: 'y', number: 1 },
      { 'a Apply': { 'f:text': f }, 'b Update': { 'f:number': f } },
    ],
    [
      'an update takes over, and the next apply conflicts',
      [
        { by: 'a', apply: { text: 'x', number: 1 } },
        { by: 'b', update: { text: 'y', number: 1 } },
        { by: 'a', apply: { text: 'z', number: 1 }, conflicts: ['b: .text'] },
      ],
      { text: 'y', number: 1 },
      { 'a Apply': { 'f:number': f }, 'b Update': { 'f:text': f } },
    ],
    [
      'force takes over',
      [
        { by: 'a', apply: { text: 'x' } },
        { by: 'b', update: { text: 'y' } },
        { by: 'a', apply: { text: 'z' }, force: true },
      ],
      { text: 'z' },
      { 'a Apply': { 'f:text': f } },
    ],
    [
      'a field that is no longer applied goes',
      [
        { by: 'a', apply: { text: 'x', number: 1 } },
        { by: 'a', apply: { text: 'x' } },
      ],
      { text: 'x' },
      { 'a Apply': { 'f:text': f } },
    ],
    [
      'a field that an update set first stays',
      [
        { by: 'b', update: { text: 'x' } },
        { by: 'a', apply: {} },
      ],
      { text: 'x' },
      { 'b Update': { 'f:text': f } },
    ],
    [
      'a removed field has no owner',
      [
        { by: 'a', apply: { text: 'x' } },
        { by: 'b', update: {} },
      ],
      {},
      {},
    ],
    [
      'the same value is shared',
      [
        { by: 'a', apply: { text: 'x', number: 1 } },
        { by: 'b', apply: { text: 'x' } },
        { by: 'a', apply: { number: 1 } },
      ],
      { text: 'x', number: 1 },
      { 'a Apply': { 'f:number': f }, 'b Apply': { 'f:text': f } },
    ],
    [
      'another value conflicts',
      [
        { by: 'a', apply: { text: 'x' } },
        { by: 'b', apply: { text: 'y' }, conflicts: ['a: .text'] },
      ],
      { text: 'x' },
      { 'a Apply': { 'f:text': f } },
    ],
    [
      'a set has owners by item',
      [
        { by: 'a', apply: { set: ['a', 'c'] } },
        { by: 'b', update: { set: ['a', 'b', 'c', 'd'] } },
        { by: 'a', apply: { set: ['a', 'aprime', 'c', 'cprime'] } },
      ],
      { set: ['a', 'b', 'aprime', 'c', 'd', 'cprime'] },
      {
        'a Apply': { 'f:set': { 'v:"a"': f, 'v:"aprime"': f, 'v:"c"': f, 'v:"cprime"': f } },
        'b Update': { 'f:set': { 'v:"b"': f, 'v:"d"': f } },
      },
    ],
    [
      'an item that is applied, too, is shared',
      [
        { by: 'a', apply: { set: ['a', 'c'] } },
        { by: 'b', update: { set: ['a', 'b', 'c', 'd'] } },
        { by: 'a', apply: { set: ['a', 'b', 'c'] } },
      ],
      { set: ['a', 'b', 'c', 'd'] },
      {
        'a Apply': { 'f:set': { 'v:"a"': f, 'v:"b"': f, 'v:"c"': f } },
        'b Update': { 'f:set': { 'v:"b"': f, 'v:"d"': f } },
      },
    ],
    [
      'a set is reordered without a conflict',
      [
        { by: 'a', apply: { set: ['a', 'b', 'c', 'd'] } },
        { by: 'b', update: { set: ['a', 'd', 'c', 'b'] } },
        { by: 'a', apply: { set: ['a', 'b', 'c', 'd'] } },
      ],
      { set: ['a', 'b', 'c', 'd'] },
      { 'a Apply': { 'f:set': { 'v:"a"': f, 'v:"b"': f, 'v:"c"': f, 'v:"d"': f } } },
    ],
    [
      'an item of a map list is replaced by another',
      [
        { by: 'a', apply: { items: [{ name: 'a', value: 1 }] } },
        { by: 'a', apply: { items: [{ name: 'b', value: 2 }] } },
      ],
      { items: [{ name: 'b', value: 2 }] },
      { 'a Apply': { 'f:items': item('b', { 'f:value': f }) } },
    ],
    [
      'one of two appliers leaves an item to the other',
      [
        { by: 'a', apply: { items: [{ name: 'a' }, { name: 'b', set: ['c'] }] } },
        { by: 'b', apply: { items: [{ name: 'b', set: ['d'] }] } },
        { by: 'c', update: { items: [{ name: 'a' }, { name: 'b', set: ['c', 'd', 'e'] }] } },
        { by: 'a', apply: { items: [{ name: 'a' }] } },
      ],
      { items: [{ name: 'a' }, { name: 'b', set: ['d', 'e'] }] },
      {
        'a Apply': { 'f:items': item('a') },
        'b Apply': { 'f:items': item('b', { 'f:set': { 'v:"d"': f } }) },
        'c Update': { 'f:items': { 'k:{"name":"b"}': { 'f:set': { 'v:"e"': f } } } },
      },
    ],
    [
      'an item goes with what others put into it',
      [
        { by: 'a', apply: { items: [{ name: 'a' }, { name: 'b', set: ['c'] }] } },
        { by: 'c', update: { items: [{ name: 'a' }, { name: 'b', set: ['c', 'd'] }] } },
        { by: 'a', apply: { items: [{ name: 'a' }] } },
      ],
      { items: [{ name: 'a' }] },
      { 'a Apply': { 'f:items': item('a') } },
    ],
    [
      'a field of an item changes',
      [
        { by: 'a', apply: { items: [{ name: 'a', map: { b: 'x' } }] } },
        { by: 'a', apply: { items: [{ name: 'a', map: { b: 'y', c: 'z' } }] } },
      ],
      { items: [{ name: 'a', map: { b: 'y', c: 'z' } }] },
      { 'a Apply': { 'f:items': item('a', { 'f:map': { 'f:b': f, 'f:c': f } }) } },
    ],
    [
      'keys have defaults',
      [
        { by: 'a', apply: { pairs: [{ key: 'a' }] } },
        { by: 'b', apply: { pairs: [{ key: 'a', id: 0, value: { x: 'y' } }] } },
      ],
      { pairs: [{ key: 'a', id: 0, value: { x: 'y' } }] },
      {
        'a Apply': { 'f:pairs': { 'k:{"id":0,"key":"a"}': { '.': f, 'f:key': f } } },
        'b Apply': {
          'f:pairs': {
            'k:{"id":0,"key":"a"}': { '.': f, 'f:id': f, 'f:key': f, 'f:value': { 'f:x': f } },
          },
        },
      },
    ],
    [
      'an entry of a map of maps is replaced by another',
      [
        { by: 'a', apply: { maps: { a: { b: 'x' } } } },
        { by: 'a', apply: { maps: { b: { c: 'x' } } } },
      ],
      { maps: { b: { c: 'x' } } },
      { 'a Apply': { 'f:maps': { 'f:b': { '.': f, 'f:c': f } } } },
    ],
    [
      'an entry of a map of sets changes',
      [
        { by: 'a', apply: { sets: { a: ['b', 'c'] } } },
        { by: 'a', apply: { sets: { a: ['a', 'c'] } } },
      ],
      { sets: { a: ['a', 'c'] } },
      { 'a Apply': { 'f:sets': { 'f:a': { '.': f, 'v:"a"': f, 'v:"c"': f } } } },
    ],
    [
      'a struct goes with its last field',
      [
        { by: 'a', apply: { struct: { name: 'a' } } },
        { by: 'a', apply: {} },
      ],
      {},
      {},
    ],
    [
      'a struct stays for the field of another',
      [
        { by: 'a', apply: { struct: { name: 'a' } } },
        { by: 'b', update: { struct: { name: 'a', value: 1 } } },
        { by: 'a', apply: {} },
      ],
      { struct: { value: 1 } },
      { 'b Update': { 'f:struct': { 'f:value': f } } },
    ],
    [
      'an update owns a struct that it adds, an apply its fields',
      [
        { by: 'b', update: { struct: { name: 'a' } } },
        { by: 'a', apply: { struct: { name: 'a' } } },
      ],
      { struct: { name: 'a' } },
      {
        'b Update': { 'f:struct': { '.': f, 'f:name': f } },
        'a Apply': { 'f:struct': { 'f:name': f } },
      },
    ],
    [
      'an atomic struct has one owner',
      [
        { by: 'a', apply: { atomicStruct: { name: 'a' } } },
        { by: 'b', apply: { atomicStruct: { value: 1 } }, conflicts: ['a: .atomicStruct'] },
        { by: 'b', apply: { atomicStruct: { value: 1 } }, force: true },
      ],
      { atomicStruct: { value: 1 } },
      { 'b Apply': { 'f:atomicStruct': f } },
    ],
    [
      'one name has two owners: of applies and of updates',
      [
        { by: 'a', update: { text: 'x' } },
        { by: 'a', apply: { text: 'y' }, conflicts: ['a: .text'] },
      ],
      { text: 'x' },
      { 'a Update': { 'f:text': f } },
    ],
  ])('%s', (_, steps, live, owners) => {
    const result = run(steps);
    expect(result.live).toEqual(live);
    expect(shown(result.owners)).toEqual(owners);
  });

  test('conflicts name each field', () => {
    run([
      { by: 'a', apply: { items: [{ name: 'a', value: 1 }], labels: { 'b.c/d': 'e' } } },
      {
        by: 'b',
        apply: { items: [{ name: 'a', value: 2 }], labels: { 'b.c/d': 'f' } },
        conflicts: ['a: .items[name="a"].value', 'a: .labels.b.c/d'],
      },
    ]);
    expect(formatPath(['f:set', 'v:"a"', 'i:3'])).toBe('.set[="a"][3]');
  });
});

/** The facts are those of structured-merge-diff's typed/merge_test.go. */
describe('merged order', () => {
  test.each([
    ['abc', 'abc', 'abc'],
    ['a', '', 'a'],
    ['', 'a', 'a'],
    ['abc', 'defxyz', 'abcdefxyz'],
    ['cdef', 'ace', 'acdef'],
    ['abcxyz', 'def', 'abcxyzdef'],
    ['abcxyz', 'defxyz', 'abcdefxyz'],
    ['cagf', 'cfag', 'cfag'],
    ['abcd', 'defa', 'bcdefa'],
    ['cdefghij', '2h3e4kl', 'cdfg2hij3e4kl'],
    ['abcdefghij', '1b2h3e4kl', 'a1bcdfg2hij3e4kl'],
    ['abb', 'c', 'abbc'],
    ['abb', 'b', 'ab'],
    ['abb', 'a', 'abb'],
    ['abcdec', '1b2ed', 'a1bc2ecd'],
    ['abcdec', '1b2ced', 'a1b2ced'],
    ['aabb', 'bcd', 'aabcd'],
    ['cagfca', 'cfag', 'cfag'],
  ])('of %s and %s is %s', (live, applied, merged) => {
    expect(mergeValues(schema, { set: [...live] }, { set: [...applied] })).toEqual({
      set: [...merged],
    });
    const items = (names: string): object => ({ items: [...names].map((name) => ({ name })) });
    expect(mergeValues(schema, items(live), items(applied))).toEqual(items(merged));
  });

  test('numbers and booleans are compared as such', () => {
    expect(mergeValues(schema, { numbers: [1, 2, 3.14159] }, { numbers: [1, 2, 3] })).toEqual({
      numbers: [1, 2, 3.14159, 3],
    });
    expect(mergeValues(schema, { flags: [true] }, { flags: [false] })).toEqual({
      flags: [true, false],
    });
  });
});

describe('FieldsV1', () => {
  test('has the form and order of Kubernetes', () => {
    const fields = fieldSetOf(schema, {
      text: 'x',
      set: ['b', 'a'],
      items: [{ name: 'b' }, { value: 1, name: 'a' }],
      labels: { z: '1', a: '2' },
      struct: {},
    });
    expect(JSON.stringify(encodeFields(fields))).toBe(
      '{"f:items":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{},"f:value":{}},"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}},"f:labels":{"f:a":{},"f:z":{}},"f:set":{"v:\\"a\\"":{},"v:\\"b\\"":{}},"f:struct":{},"f:text":{}}',
    );
  });

  test.each([
    null,
    [],
    1,
    { 'f:a': 1 },
    { x: {} },
    { 'q:a': {} },
    { 'i:x': {} },
    { 'v:{': {} },
    { 'k:1': {} },
  ])('malformed: %j', (fields) => {
    expect(() => decodeFields(fields)).toThrow();
  });

  test('keys of items are read in any order', () => {
    expect(encodeFields(decodeFields({ 'k:{"b":1,"a":2}': {} }))).toEqual({
      'k:{"a":2,"b":1}': {},
    });
  });
});

const letter = fc.constantFrom('a', 'b', 'c', 'd');
/** No one owns an empty list: its items have owners. */
const letters = fc.uniqueArray(letter, { minLength: 1 });
const values = fc.record(
  {
    text: letter,
    atomic: fc.array(letter, { maxLength: 3 }),
    set: letters,
    items: fc.uniqueArray(
      fc.record({ name: letter, value: fc.nat(3), set: letters }, { requiredKeys: ['name'] }),
      { minLength: 1, selector: ({ name }) => name },
    ),
    labels: fc.dictionary(letter, letter),
    struct: fc.record({ name: letter, value: fc.nat(3) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const sets = values.map((value) => fieldSetOf(schema, value));

describe('for any values', () => {
  test('encoding is reversible', () => {
    fc.assert(
      fc.property(sets, (one) => {
        expect(decodeFields(JSON.parse(JSON.stringify(encodeFields(one)))).equals(one)).toBe(true);
      }),
    );
  });

  test('sets keep the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, sets, (a, b, c) => {
        expect(a.union(b).equals(b.union(a))).toBe(true);
        expect(
          a
            .union(b)
            .union(c)
            .equals(a.union(b.union(c))),
        ).toBe(true);
        expect(a.union(a).equals(a)).toBe(true);
        expect(a.intersection(b).equals(b.intersection(a))).toBe(true);
        expect(a.difference(b).intersection(b).isEmpty).toBe(true);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(FieldSet.of(...a.paths()).equals(a)).toBe(true);
      }),
    );
  });

  test('what is applied is there, and a second time changes nothing', () => {
    fc.assert(
      fc.property(values, values, values, (live, first, second) => {
        const once = run([
          { by: 'b', update: live },
          { by: 'a', apply: first, force: true },
        ]);
        expect(shown(once.owners)).toEqual(
          shown(
            run([
              { by: 'b', update: live },
              { by: 'a', apply: first, force: true },
              { by: 'a', apply: first },
            ]).owners,
          ),
        );
        const applied = fieldSetOf(schema, first);
        expect(applied.difference(compareValues(schema, {}, once.live).added).isEmpty).toBe(true);
        const again = mergeConfiguration(schema, once.live, first, once.owners, 'a');
        expect(again ?? {}).toEqual(once.live);
        const { live: left } = run([
          { by: 'a', apply: first },
          { by: 'a', apply: second },
          { by: 'a', apply: {} },
        ]);
        expect(compareValues(schema, {}, left).added.isEmpty).toBe(true);
      }),
    );
  });
});
