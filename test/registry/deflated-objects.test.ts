import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../kinds/index.js';
import { Session } from '../../kinds/people/session/session.js';
import { PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { EncodedObject, encode } from '../../registry/encoded-object.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import { hubOf } from '../../registry/versions/kind-view.js';
import fc from '../support/fast-check.js';

const readAs = (kind: AnyKind, object: KindObject): EncodedObject =>
  new EncodedObject(kind, {
    key: 'objects/things/one',
    value: encode(hubOf(kind), object),
    revision: 7,
  });

const metadata = fc.record({
  name: fc.string(),
  uid: fc.uuid(),
  resourceVersion: fc.constant('0'),
  generation: fc.nat(),
  creationTimestamp: fc.constant('2026-11-28T21:41:03Z'),
});
const objects = fc.record(
  {
    metadata,
    spec: fc.jsonValue(),
    status: fc.jsonValue(),
    internal: fc.jsonValue(),
  },
  { requiredKeys: ['metadata', 'spec', 'status'] },
);

/** The kinds that have a dictionary, with the first digits of its hash. */
const dictionaries = [
  ['PolicyDecision', PolicyDecision, '4c7146695ada1377'],
  ['Session', Session, '8f6fbab1982a9366'],
] as const;

describe.each(dictionaries)('objects that are deflated: %s', (_name, kind, hash) => {
  const plain: AnyKind = { ...kind, dictionary: undefined } as never;

  test('are read, and sent, as if they had been stored as they are', () => {
    fc.assert(
      fc.property(objects, (given) => {
        const object = given as unknown as KindObject;
        const [deflated, stored] = [readAs(kind, object), readAs(plain, object)];
        expect(deflated.object).toEqual(stored.object);
        expect(deflated.wire().equals(stored.wire())).toBe(true);
        expect(deflated.wire(9).equals(stored.wire(9))).toBe(true);
        expect(deflated.equals(encode(hubOf(kind), object))).toBe(true);
      }),
    );
  });

  test('stay readable: the dictionary is that of the first release', () => {
    expect(createHash('sha256').update(kind.dictionary!).digest('hex').slice(0, 16)).toBe(hash);
  });
});

test('every kind with a dictionary is in the table', () => {
  expect(
    kinds
      .filter((kind) => kind.dictionary)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(dictionaries.map(([name]) => name));
});
