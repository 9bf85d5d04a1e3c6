import { expect, test } from '@jest/globals';
import { languageFaults } from '../../kinds/signin/language-faults.js';

const field = 'spec.displayNames';

test.each([
  ['de-ch', 'Invalid value: the language tag must be de-CH'],
  ['EN', 'Invalid value: the language tag must be en'],
  ['de_CH', 'Invalid value: its name must be a language tag such as en or de-CH'],
  ['', 'Invalid value: its name must be a language tag such as en or de-CH'],
])('the tag %j is refused with what to write', (tag, message) => {
  expect(languageFaults(field, { [tag]: 'Muster' })).toEqual([
    { reason: 'FieldValueInvalid', field: `${field}.${tag}`, message },
  ]);
});

test('a tag may have 35 characters', () => {
  const tag = `de-x-${'a'.repeat(8)}-${'b'.repeat(8)}-${'c'.repeat(8)}-ddd`;
  expect(languageFaults(field, { [tag]: 'Muster' })).toEqual([]);
  expect(languageFaults(field, { [`${tag}d`]: 'Muster' })).toEqual([
    {
      reason: 'FieldValueTooLong',
      field: `${field}.${tag}d`,
      message: 'Too long: the language tag may not be more than 35 characters',
    },
  ]);
});

test('of two tags that differ in case, the one that is not canonical is refused', () => {
  const faults = languageFaults(field, { 'de-CH': 'Muster', 'de-ch': 'Muster' });
  expect(faults.map((fault) => fault.field)).toEqual([`${field}.de-ch`]);
});

test.each([
  [0, []],
  [32, []],
  [
    33,
    [
      {
        reason: 'FieldValueTooMany',
        field,
        message: 'Too many: must have at most 32 languages (got 33)',
      },
    ],
  ],
])('of %i languages, at most 32 are accepted', (count, faults) => {
  const tags = Array.from({ length: count }, (_, i) => `de-x-${i}`);
  expect(languageFaults(field, Object.fromEntries(tags.map((tag) => [tag, 'Muster'])))).toEqual(
    faults,
  );
});
