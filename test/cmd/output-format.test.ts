import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { formatTable } from '../../cmd/vestibule/client/output/columns.js';
import { formatJSON, formatYAML } from '../../cmd/vestibule/client/output/output-format.js';
import { stripControls } from '../../cmd/vestibule/terminal/output.js';
import { distance } from '../../registry/schema/nearest-name.js';
import fc from '../support/fast-check.js';

test('what is printed as JSON or YAML has no character that steers a terminal', () => {
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
