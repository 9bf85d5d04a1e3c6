import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { fillTemplate } from '../../cmd/vestibule/client/jsonpath.js';
import { formatTable } from '../../cmd/vestibule/client/output/columns.js';
import { formatJSON, formatYAML } from '../../cmd/vestibule/client/output/output-format.js';
import { stripControls } from '../../cmd/vestibule/terminal/output.js';
import { distance } from '../../registry/schema/nearest-name.js';
import fc from '../support/fast-check.js';

const value = {
  name: 'n',
  'a.b': 'dotted',
  list: [{ id: 'x', size: 1, on: true }, { id: 'y', size: 3 }, { id: 'z' }],
  deep: { one: 1, two: [2] },
};

describe('a template', () => {
  test.each([
    ['', ''],
    ['plain text', 'plain text'],
    ['{.name}', 'n'],
    ['{ .name }!{"\\n"}', 'n!\n'],
    ["{'it'}", 'it'],
    ['{$.name}{@.name}', 'nn'],
    ['{.absent.deeper}', ''],
    ['{.a\\.b}', 'dotted'],
    ["{['a.b']}", 'dotted'],
    ['{["name"]}', 'n'],
    ['{.list[*].id}', 'x y z'],
    ['{.list[0].id}', 'x'],
    ['{.list[-1].id}', 'z'],
    ['{.list[9].id}', ''],
    ['{.list[1:].id}', 'y z'],
    ['{.list[:2].id}', 'x y'],
    ['{.list[-2:-1].id}', 'y'],
    ['{.deep.*}', '1 [2]'],
    ['{.deep}', '{"one":1,"two":[2]}'],
    ['{.list[?(@.size)].id}', 'x y'],
    ['{.list[?(@.size>1)].id}', 'y'],
    ['{.list[?(@.size<=1)].id}', 'x'],
    ['{.list[?(@.id=="z")].id}', 'z'],
    ["{.list[?(@.id!='z')].id}", 'x y'],
    ['{.list[?(@.on==true)].id}', 'x'],
    ['{range .list[*]}<{.id}{range .absent}no{end}>{end}.', '<x><y><z>.'],
    ['{.constructor}{.__proto__}', ''],
    ['{.name.length}', ''],
  ])('%s', (template, filled) => {
    expect(fillTemplate(template, value)).toBe(filled);
  });

  test.each([
    '{',
    '{.a',
    '{.a[}',
    '{.a[?(@.b==)]}',
    '{range .a}',
    '{end}',
    '{..a}',
    '{.a .b}',
    '{"x}',
    '{.a["b",\'c\']}',
  ])('%s is refused', (template) => {
    expect(() => fillTemplate(template, value)).toThrow(/^-o jsonpath: at \d+, /);
  });

  test('a number may begin with zeros, as kubectl takes it', () => {
    expect(fillTemplate('{.list[?(@.size==03)].id}', value)).toBe('y');
    expect(() => fillTemplate('{01', value)).toThrow(/^-o jsonpath: at \d+, /);
  });

  test('no text at all does harm', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[].*?()@$"\'\\:=<>-019ab range end') }),
        (text) => {
          try {
            expect(typeof fillTemplate(text, value)).toBe('string');
          } catch (error) {
            expect((error as Error).message).toMatch(/^-o jsonpath/);
          }
        },
      ),
    );
  });
});

test('what is printed as JSON or YAML is what it was, without a character that steers a terminal', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.string({
        unit: fc.constantFrom(
          '\u001b',
          '\u0085',
          '\u202e',
          '\u007f',
          '\u0000',
          'a',
          ' ',
          '\n',
          '"',
          '\\',
          ':',
          '#',
          '-',
          '\u{1f600}',
        ),
      }),
      (one, text) => {
        const whole = { one: JSON.parse(JSON.stringify(one)), [`k${text}`]: text };
        for (const [written, read] of [
          [formatJSON(whole), JSON.parse],
          [formatYAML(whole), (yaml: string) => parse(yaml, { version: '1.1' })],
        ] as const) {
          expect(stripControls(written)).toBe(written);
          expect(read(written)).toEqual(whole);
        }
      },
    ),
    {
      examples: [
        [null, ' \n'],
        [null, '  \n\n'],
        [' \n', 'a'],
      ],
    },
  );
});

test('columns are as wide as in kubectl', () => {
  expect(
    formatTable(
      ['A', 'LONGER', 'B'],
      [
        ['x', 'y', 'z'],
        ['much longer', '', 'last'],
      ],
    ),
  ).toBe('A             LONGER   B\nx             y        z\nmuch longer            last\n');
});

test('words are compared by letters put in, taken out and changed', () => {
  expect([
    distance('groups', 'groups'),
    distance('grops', 'groups'),
    distance('', 'abc'),
    distance('kitten', 'sitting'),
  ]).toEqual([0, 1, 3, 3]);
});
