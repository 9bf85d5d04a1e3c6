import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { actions, kinds } from '../../kinds/index.js';
import { emailAddress } from '../../kinds/signin/email-address.js';
import { lineFault } from '../../registry/schema/line-of-text.js';
import {
  atomicObject,
  declaredKeywords,
  mapList,
  setList,
} from '../../registry/schema/list-type.js';
import { CallerMetadata } from '../../registry/schema/metadata-schema.js';
import { lineOfText, patternDescription } from '../../registry/schema/pattern.js';
import { toJSONSchema, Validator } from '../../registry/schema/schema.js';
import { Registry } from '../../registry/store/registry.js';
import fc from '../support/fast-check.js';

const anchored = /^a$/;

describe('constructs that JSON Schema would lose stop the start, with their path', () => {
  test.each<[string, z.ZodTypeAny]>([
    ['refine', z.string().refine(Boolean)],
    ['transform', z.string().transform(Number)],
    ['preprocess', z.preprocess(String, z.string())],
    ['pipe', z.string().pipe(z.string())],
    ['date', z.date()],
    ['tuple', z.tuple([z.string()])],
    ['map', z.map(z.string(), z.string())],
    ['set', z.set(z.string())],
    ['bigint', z.bigint()],
    ['intersection', z.intersection(z.object({}), z.object({}))],
    ['any', z.any()],
    ['unknown', z.unknown()],
    ['function', z.function()],
    ['promise', z.promise(z.string())],
    ['lazy', z.lazy(() => z.string())],
    ['symbol', z.symbol()],
    ['catch', z.string().catch('x')],
    ['brand', z.string().brand('x')],
    ['void', z.void()],
    ['trim', z.string().trim()],
    ['toLowerCase', z.string().toLowerCase()],
    ['toUpperCase', z.string().toUpperCase()],
    ['base64url', z.string().base64url()],
    ['flags', z.string().regex(/^a$/i)],
    ['no start', z.string().regex(/a$/)],
    ['no end', z.string().regex(/^a/)],
  ])('%s', (_name, schema) => {
    for (const [nested, where] of [
      [z.object({ field: schema }), 'Kind.spec.field'],
      [z.object({ list: z.array(schema) }), 'Kind.spec.list'],
      [z.object({ field: schema.optional() }), 'Kind.spec.field'],
      [z.object({ map: z.record(schema) }), 'Kind.spec.map'],
      [z.object({ either: z.union([z.string(), schema]) }), 'Kind.spec.either'],
      [z.object({ deep: z.object({ er: schema.nullable() }) }), 'Kind.spec.deep.er'],
    ] as [z.ZodTypeAny, string][]) {
      expect(() => toJSONSchema(nested, 'Kind.spec')).toThrow(where);
    }
  });

  test.each<[string, z.ZodTypeAny]>([
    ['string', z.string().regex(anchored)],
    ['default', z.string().default('x')],
    ['nullable', z.string().nullable()],
    ['record', z.record(z.string())],
    ['enum', z.enum(['a', 'b'])],
    ['literal', z.literal('a')],
    ['union', z.union([z.string(), z.number()])],
  ])('%s passes', (_name, schema) => {
    expect(() =>
      new Validator(toJSONSchema(z.object({ field: schema }), 'x')).compile(),
    ).not.toThrow();
  });
});

test('an empty schema or a type unknown to the converter stops the start', () => {
  class Unknown extends z.ZodType {
    constructor() {
      super({ typeName: 'ZodUnheardOf' } as never);
    }
    override _parse(input: z.ParseInput): z.ParseReturnType<unknown> {
      return z.OK(input.data);
    }
  }
  for (const schema of [
    z.union([] as never),
    z.array(z.union([] as never)),
    z.record(z.union([] as never)),
  ]) {
    expect(() => toJSONSchema(z.object({ field: schema as z.ZodTypeAny }), 'Kind.spec')).toThrow(
      /Kind\.spec\.field.*empty schema/,
    );
  }
  for (const schema of [
    new Unknown(),
    z.array(new Unknown()),
    z.literal(undefined),
    z.literal(1n),
    z.never(),
    z.undefined(),
    z.nan(),
  ]) {
    expect(() => toJSONSchema(z.object({ field: schema as z.ZodTypeAny }), 'Kind.spec')).toThrow(
      'Kind.spec.field',
    );
  }
});

test('every schema that is served is one by the meta-schema, which no start checks', () => {
  const registry = new Registry(kinds, actions);
  const all = [
    ...kinds.flatMap((kind) => {
      const { spec, createSpec, status } = registry.schemas(kind);
      return [spec.schema, createSpec.schema, status.schema];
    }),
    ...registry.actions.flatMap((action) => registry.body(action)?.schema ?? []),
  ];
  expect(all.length).toBeGreaterThan(3 * kinds.length);
  const ajv = new Ajv2020({ discriminator: true });
  for (const schema of all) {
    expect([ajv.validateSchema(schema as object), ajv.errors]).toEqual([true, null]);
  }
  expect(ajv.validateSchema({ type: 'strin' })).toBe(false);
});

describe('a discriminated union', () => {
  const validator = new Validator(
    toJSONSchema(
      z.discriminatedUnion('method', [
        z.object({ method: z.literal('Code'), code: z.string().regex(/^[0-9]{6}$/) }),
        z.object({ method: z.literal('Link'), token: z.string().min(1) }),
      ]),
      'spec',
    ),
  );
  const faults = (value: unknown): string[] =>
    validator.check(value, 'spec').map(({ reason, field }) => `${reason} ${field}`);

  test('gives one fault at the field that is wrong, never one for each branch', () => {
    expect(faults({ method: 'Code', code: '123456' })).toEqual([]);
    expect(faults({ method: 'Code' })).toEqual(['FieldValueRequired spec.code']);
    expect(faults({ method: 'Link', token: '' })).toHaveLength(1);
    expect(faults({ method: 'Other', code: '123456' })).toEqual([
      'FieldValueNotSupported spec.method',
    ]);
    for (const method of ['Other', 1]) {
      expect(validator.check({ method }, 'spec')).toEqual([
        {
          reason: 'FieldValueNotSupported',
          field: 'spec.method',
          message: 'Unsupported value: supported values: "Code", "Link"',
        },
      ]);
    }
    expect(faults({})).toEqual(['FieldValueRequired spec.method']);
    expect(faults({ method: 'Code', code: '123456', token: 'x' })).toEqual([
      'FieldValueForbidden spec.token',
    ]);
    for (const method of [null, 1, {}, [], true]) {
      expect(faults({ method, code: '123456' })).toHaveLength(1);
    }
    for (const value of [null, 'x', 1, []]) expect(faults(value).length).toBeGreaterThan(0);
  });
});

test('values are never converted, and at most 32 faults are reported', () => {
  const validator = new Validator(
    toJSONSchema(
      z.object({
        n: z.number().int(),
        b: z.boolean(),
        s: z.string(),
        many: z.array(z.number()).optional(),
      }),
      'spec',
    ),
  );
  expect(validator.check({ n: '1', b: 'true', s: 1 }, 'spec').map(({ field }) => field)).toEqual([
    'spec.n',
    'spec.b',
    'spec.s',
  ]);
  expect(
    validator.check(
      { n: 1, b: true, s: 'x', many: Array.from({ length: 100 }, () => 'x') },
      'spec',
    ),
  ).toHaveLength(32);
  expect(
    validator.check({ n: 1, b: true, s: 'x', many: [1, 'x'] }, 'spec').map(({ field }) => field),
  ).toEqual(['spec.many[1]']);
});

test('a long list has one fault if it is too long, with no fault of its items', () => {
  const item = z.object({ name: z.string().describe('Name.') });
  const schema = z.object({
    short: z.array(item).max(2).describe('Short.'),
    other: z.string().describe('Another.'),
  });
  const validator = new Validator(toJSONSchema(schema, 'x'));
  const fieldsOf = (length: number) =>
    validator.check({ short: Array.from({ length }, () => 1) }, 'x').map(({ field }) => field);
  expect(fieldsOf(1_001)).toEqual(['x.short']);
  expect(fieldsOf(3)).toEqual(['x.other', 'x.short', 'x.short[0]', 'x.short[1]', 'x.short[2]']);
});

describe('faults are reported in words', () => {
  const registry = new Registry(kinds, actions);
  const served = [
    toJSONSchema(CallerMetadata, 'metadata'),
    ...kinds.flatMap((kind) => {
      const { spec, createSpec } = registry.schemas(kind);
      return [spec.schema, createSpec.schema];
    }),
    ...registry.actions.flatMap((action) => registry.body(action)?.schema ?? []),
  ];
  const patterns = (schema: unknown): string[] =>
    typeof schema !== 'object' || schema === null
      ? []
      : Object.entries(schema).flatMap(([key, value]) =>
          key === 'pattern' && typeof value === 'string' ? [value] : patterns(value),
        );

  test('every pattern that is served says what it demands', () => {
    const all = new Set(served.flatMap(patterns));
    expect(all.size).toBeGreaterThan(10);
    expect(
      [...all].filter((source) => !/^must |^has /.test(patternDescription(source) ?? '')),
    ).toEqual([]);
  });

  test('one a field, the first; neither pattern nor value is shown', () => {
    const validator = new Validator(
      toJSONSchema(
        z.object({
          email: emailAddress(),
          short: z
            .string()
            .min(3)
            .max(5)
            .regex(/^[a-z]*$/),
          many: z.array(z.number().int().min(1).max(9)).max(2),
          either: z.union([z.string(), z.array(z.string()), z.boolean()]),
          flag: z.boolean(),
          choice: z.enum(['A', 'B']),
          object: z.object({}),
          when: z.string().datetime(),
          some: z.string().min(1),
        }),
        'spec',
      ),
    );
    const value = {
      email: 'absent',
      short: 'ABCDEF',
      many: [0, 1.5, 99],
      either: 1,
      flag: 'yes',
      choice: 'C',
      object: [],
      when: 'noon',
      some: '',
    };
    expect(
      Object.fromEntries(
        validator.check(value, 'spec').map(({ field, message }) => [field, message]),
      ),
    ).toEqual({
      'spec.email': 'Invalid value: must be an email address',
      'spec.short': 'Too long: may not be more than 5 characters',
      'spec.many': 'Too many: must have at most 2 items',
      'spec.many[0]': 'Invalid value: must be at least 1',
      'spec.many[1]': 'Invalid value: must be a whole number',
      'spec.many[2]': 'Invalid value: must be at most 9',
      'spec.either': 'Invalid value: must be text, or a list, or true or false',
      'spec.flag': 'Invalid value: must be true or false',
      'spec.choice': 'Unsupported value: supported values: "A", "B"',
      'spec.object': 'Invalid value: must be an object',
      'spec.when': 'Invalid value: must be a time such as 2030-01-31T12:00:00Z',
      'spec.some': 'Invalid value: must not be empty',
    });
    expect(validator.check(value, 'spec').map(({ field }) => field)).toHaveLength(12);
  });

  test.each(kinds.map((kind) => [kind.kind, kind.spec] as [string, z.ZodTypeAny]))(
    'of a %s never twice at a field, never by a pattern',
    (name, schema) => {
      const validator = new Validator(toJSONSchema(schema, name));
      fc.assert(
        fc.property(near(schema), (value) => {
          const causes = validator.check(structuredClone(value), 'spec');
          expect(new Set(causes.map(({ field }) => field)).size).toBe(causes.length);
          for (const { message } of causes) {
            expect(message).not.toMatch(/\^|pattern|must be of another form|NOT|undefined/);
          }
        }),
        { numRuns: 200 },
      );
    },
  );
});

describe('zod and the validator agree on what they take', () => {
  const schemas: [string, z.ZodTypeAny][] = [
    ...kinds.map((kind) => [kind.kind, kind.spec] as [string, z.ZodTypeAny]),
    ...actions.flatMap((action) =>
      action.spec && action.verb === 'create'
        ? [[`${action.of.kind}/${action.subresource}`, action.spec] as [string, z.ZodTypeAny]]
        : [],
    ),
  ];

  test.each(schemas)('%s', (name, schema) => {
    const validator = new Validator(toJSONSchema(schema, name));
    fc.assert(
      fc.property(near(schema), (value) => {
        const ours = validator.check(structuredClone(value), '').length === 0;
        const theirs = strict(schema).safeParse(value).success;
        if (ours !== theirs) {
          throw new Error(
            `${JSON.stringify(value)}: the validator ${ours ? 'takes' : 'refuses'} what zod does not agree on: ${JSON.stringify(validator.check(structuredClone(value), ''))}`,
          );
        }
      }),
      { numRuns: 400 },
    );
  });
});

/**
 * The same schema as the validator sees it: unknown fields are refused at every depth, items of sets
 * and maps are distinct, lines of text are what `lineFault` takes, and base64 is only said
 * (contentEncoding).
 */
function strict(schema: z.ZodTypeAny): z.ZodTypeAny {
  if (schema instanceof z.ZodObject) {
    const closed = z.object(
      Object.fromEntries(
        Object.entries(schema.shape as Record<string, z.ZodTypeAny>).map(([name, inner]) => [
          name,
          strict(inner),
        ]),
      ),
    );
    return schema._def.unknownKeys === 'passthrough' ? closed.passthrough() : closed.strict();
  }
  if (schema instanceof z.ZodArray) {
    const list = new z.ZodArray({ ...schema._def, type: strict(schema.element) });
    const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys } = declaredKeywords(
      schema._def,
    ) as Record<string, string[]>;
    const idOf = (item: any): string => JSON.stringify(keys ? keys.map((key) => item[key]) : item);
    return type ? list.refine((items) => new Set(items.map(idOf)).size === items.length) : list;
  }
  if (schema instanceof z.ZodString) {
    const { checks } = schema._def;
    const text = new z.ZodString({
      ...schema._def,
      checks: checks.filter(({ kind }) => kind !== 'base64'),
    });
    return checks.some((check) => check.kind === 'regex' && check.regex === lineOfText)
      ? text.refine((line) => lineFault(line) === undefined)
      : text;
  }
  if (schema instanceof z.ZodRecord) return z.record(schema.keySchema, strict(schema.valueSchema));
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap()).optional();
  if (schema instanceof z.ZodDefault) return strict(schema.removeDefault()).optional();
  if (schema instanceof z.ZodDiscriminatedUnion) {
    return z.union(schema.options.map((option: z.ZodTypeAny) => strict(option)));
  }
  return schema;
}

const junk = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 2 }),
  fc.constant({}),
);
const texts = fc.constantFrom(
  '',
  'a',
  '123456',
  'x'.repeat(43),
  'x'.repeat(65),
  'ada@example.test',
  'de-DE',
  'Europe/Berlin',
  '1999-12-31',
  '1999-13-01',
  'https://a.test/b',
  'http://a.test',
  'javascript:alert(1)',
  'Å',
  'a\nb',
  ' ',
  'a\u00a0b',
  '😀',
  `sha256:${'0'.repeat(64)}`,
);

/** Values that nearly or wholly fit a schema. */
function near(schema: z.ZodTypeAny): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional) return near(schema.unwrap());
  if (schema instanceof z.ZodDefault) return near(schema.removeDefault());
  if (schema instanceof z.ZodNullable) return fc.oneof(near(schema.unwrap()), fc.constant(null));
  const fitting = exactly(schema);
  return fc.oneof({ weight: 8, arbitrary: fitting }, { weight: 1, arbitrary: junk });
}

function exactly(schema: z.ZodTypeAny): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) {
    const fields = Object.fromEntries(
      Object.entries(schema.shape as Record<string, z.ZodTypeAny>).map(([name, inner]) => [
        name,
        near(inner),
      ]),
    );
    const required = Object.keys(fields).filter(
      (name) => !(schema.shape[name] as z.ZodTypeAny).isOptional(),
    );
    return fc.oneof(
      { weight: 9, arbitrary: fc.record(fields, { requiredKeys: required }) },
      {
        weight: 1,
        arbitrary: fc.record({ ...fields, stranger: junk }, { requiredKeys: ['stranger'] }),
      },
    );
  }
  if (schema instanceof z.ZodArray) return fc.array(near(schema.element), { maxLength: 4 });
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return fc.oneof(...(schema.options as z.ZodTypeAny[]).map(near));
  }
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...(schema.options as string[]), 'Other');
  if (schema instanceof z.ZodLiteral) return fc.constant(schema.value);
  if (schema instanceof z.ZodRecord) {
    return fc.dictionary(
      fc.string({ maxLength: 4 }).filter((key) => key !== '__proto__'),
      near(schema.valueSchema),
      { maxKeys: 3 },
    );
  }
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber) {
    return fc.oneof(
      fc.integer({ min: -2, max: 100 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
  }
  return fc.oneof(
    texts,
    fc.string({ maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
  );
}

test('how lists and objects are merged is declared', () => {
  const item = z.object({ name: z.string().describe('Name.') });
  const schema = toJSONSchema(
    z.object({
      set: setList(z.array(z.string())).max(3).default([]).describe('A set.'),
      map: mapList(z.array(item), 'name').optional(),
      whole: atomicObject(item),
      list: z.array(z.string()),
    }),
    'sample',
  );
  const { properties } = schema;
  expect(properties).toMatchObject({
    set: { 'x-kubernetes-list-type': 'set', maxItems: 3, default: [], description: 'A set.' },
    map: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    whole: { 'x-kubernetes-map-type': 'atomic' },
  });
  expect(Object.keys(properties!.list!)).not.toContain('x-kubernetes-list-type');
  const check = (value: object) =>
    new Validator(schema).check({ whole: { name: 'a' }, list: [], ...value }, 'spec');
  expect(check({ set: ['a', 'b'], map: [{ name: 'a' }], list: ['a', 'a'] })).toEqual([]);
  expect(
    check({ set: ['a', 'b', 'a'], map: [{ name: 'a' }, { name: 'a' }] }).map(
      ({ reason, field, message }) => [reason, field, message],
    ),
  ).toEqual([
    ['FieldValueDuplicate', 'spec.set[2]', 'Duplicate value: "a"'],
    ['FieldValueDuplicate', 'spec.map[1]', 'Duplicate value: "a"'],
  ]);
});
