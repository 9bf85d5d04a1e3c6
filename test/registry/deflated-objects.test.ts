import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { encode, EncodedObject } from '../../registry/encoded-object.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import fc from '../support/fast-check.js';

const plain: AnyKind = { ...PolicyDecision, dictionary: undefined } as never;
const readAs = (kind: AnyKind, object: KindObject, value = encode(kind, object)): EncodedObject =>
  new EncodedObject(kind, { key: 'objects/policydecisions/one', value, revision: 7 });

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

describe('objects of a kind that has a dictionary', () => {
  test('are read, and sent, as if they had been stored as they are', () => {
    fc.assert(
      fc.property(objects, (given) => {
        const object = given as unknown as KindObject;
        const [deflated, stored] = [readAs(PolicyDecision, object), readAs(plain, object)];
        expect(deflated.object).toEqual(stored.object);
        expect(deflated.wire().equals(stored.wire())).toBe(true);
        expect(deflated.wire(9).equals(stored.wire(9))).toBe(true);
        expect(deflated.equals(encode(PolicyDecision, object))).toBe(true);
      }),
    );
  });

  test('stay readable: the dictionary of a kind is that of the first release', () => {
    const digestOf = ({ dictionary }: AnyKind): string =>
      createHash('sha256').update(dictionary!).digest('hex').slice(0, 16);
    expect(digestOf(PolicyDecision)).toBe('4c7146695ada1377');
  });
});
