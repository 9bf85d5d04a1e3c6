import { describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { lineFault } from '../../registry/schema/line-of-text.js';
import { lineOfText } from '../../registry/schema/pattern.js';
import { type JSONSchema, toJSONSchema, Validator } from '../../registry/schema/schema.js';
import { expectFor } from '../support/expect-for.js';

/** The strings below a schema, with their paths. */
function stringsOf(schema: JSONSchema, at: string): [string, JSONSchema][] {
  const inner: [string, JSONSchema][] = [
    ...Object.entries(schema.properties ?? {}).map(([name, one]): [string, JSONSchema] => [
      `${at}.${name}`,
      one,
    ]),
    ...(schema.items ? [[`${at}[]`, schema.items] as [string, JSONSchema]] : []),
    ...(typeof schema.additionalProperties === 'object'
      ? [[`${at}.*`, schema.additionalProperties] as [string, JSONSchema]]
      : []),
    ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].map((one): [string, JSONSchema] => [
      at,
      one,
    ]),
  ];
  const own: [string, JSONSchema][] =
    schema.type === 'string' && schema.enum === undefined && schema.const === undefined
      ? [[at, schema]]
      : [];
  return [...own, ...inner.flatMap(([path, one]) => stringsOf(one, path))];
}

const strings = [
  ...kinds
    .filter(({ verbs }) => verbs.some((verb) => ['create', 'patch', 'update'].includes(verb)))
    .flatMap((kind) => [
      ...stringsOf(toJSONSchema(kind.spec, kind.kind), kind.kind),
      ...(kind.create?.spec
        ? stringsOf(toJSONSchema(kind.create.spec, kind.kind), `${kind.kind} (create)`)
        : []),
    ]),
  ...actions.flatMap((action) =>
    action.spec
      ? stringsOf(toJSONSchema(action.spec, action.kind), `${action.of.kind}/${action.subresource}`)
      : [],
  ),
];
const lines = strings.filter(([, { pattern }]) => pattern === lineOfText.source);

/**
 * Strings without a pattern: names of objects and scopes, keys and credentials, which other rules
 * check, and texts of several lines, in which nothing may be invisible.
 */
const others =
  /\.credential\.|\.(?:jwks|audiences|introspectors|groups|accessRequest|client|scopes)\b[^ ]*$|\.(?:caBundle|logo)$|^Policy\.(?:cedar|description)$/;

const hidden = [
  ['a blank', ' '],
  ['blanks', '   '],
  ['a tab', 'a\tb'],
  ['a line feed', 'a\nb'],
  ['a no-break space', 'a\u00a0b'],
  ['an ideographic space', 'a\u3000b'],
  ['a hair space', 'a\u200ab'],
  ['an Ogham space mark', 'a\u1680b'],
  ['a zero width space', 'a\u200bb'],
  ['a joiner between Latin letters', 'a\u200db'],
  ['a non-joiner between Latin letters', 'a\u200cb'],
  ['a non-joiner after a letter that does not join', '\u0627\u200c\u0628'],
  ['a non-joiner at an end', '\u0628\u200c'],
  ['a joiner at an end', '\u0915\u094d\u200d'],
  ['a joiner between emoji that join to none', '\u{1f600}\u200d\u{1f600}'],
  ['a variation selector after a letter', 'a\ufe0f'],
  ['a variation selector after an emoji that needs none', '\u{1f600}\ufe0f'],
  ['an ideographic variation selector', '\u845b\u{e0100}'],
  ['a soft hyphen', 'a\u00adb'],
  ['a combining grapheme joiner', 'a\u034fb'],
  ['a word joiner', 'a\u2060b'],
  ['an invisible times', 'a\u2062b'],
  ['a byte order mark', '\ufeffa'],
  ['a Braille blank', '\u2800'],
  ['a Hangul filler', '\u3164'],
  ['a Hangul choseong filler', 'a\u115f'],
  ['a Hangul jungseong filler', 'a\u1160'],
  ['a halfwidth Hangul filler', '\uffa0'],
  ['a Khmer inherent vowel', 'a\u17b4'],
  ['a Mongolian vowel separator', 'a\u180e'],
  ['a tag', 'a\u{e0061}'],
  ['a right-to-left override', 'a\u202eb'],
  ['an isolate', 'a\u2066b'],
  ['a right-to-left mark', 'a\u200f'],
  ['an Arabic letter mark', 'a\u061c'],
  ['a null notehead', '\u{1d159}'],
  ['a full blank of hieroglyphs', '\u{13441}'],
  ['an object replacement', 'a\ufffc'],
  ['a private character', '\ue000'],
  ['half a surrogate pair', 'a\ud800'],
  ['a noncharacter', 'a\uffff'],
  ['a mark alone', '\u0301'],
] as const;
const plain = [
  'App',
  'e\u0301t\u00e9',
  '\u5c71\u7530 \u592a\u90ce',
  '\u0639\u0644\u06cc\u200c\u0631\u0636\u0627',
  '\u0dc1\u0dca\u200d\u0dbb\u0dd3',
  '\u09b0\u200d\u09cd\u09af\u09be\u09ae',
  '\u0d28\u0d4d\u200d',
  '\u2764\ufe0f',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
  '1\ufe0f\u20e3',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  '\u05e9\u05dc\u05d5\u05dd',
  '!',
];

describe('a line of text for people', () => {
  test('is every string of a caller that no other rule checks', () => {
    expect(lines.length).toBeGreaterThan(30);
    expect(
      strings
        .filter(([, { pattern, format }]) => pattern === undefined && format === undefined)
        .map(([path]) => path)
        .filter((path) => !others.test(path)),
    ).toEqual([]);
  });

  test.each(hidden)('is judged alike where no schema is: %s', (_, text) => {
    expect(lineFault(text)).toMatch(/^must /);
  });

  test.each(lines)('%s accepts no hidden text', (_, schema) => {
    const validator = new Validator(schema);
    for (const [what, text] of hidden) {
      expectFor(
        what,
        validator.check(text, 'spec.x').map(({ field }) => field),
      ).toEqual(['spec.x']);
    }
    for (const text of plain) expectFor(text, validator.check(text, 'spec.x')).toEqual([]);
  });
});
