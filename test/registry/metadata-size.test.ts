import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineKind } from '../../kinds/define-kind.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import type { Call, KindObject } from '../../registry/kind.js';
import { metadataSizeFaults } from '../../registry/store/metadata-size.js';

const Owned = defineKind({
  kind: 'Owned',
  resource: 'owneds',
  description: 'Owned.',
  owner: 'status.account',
  verbs: ['get'],
  spec: z.object({}),
  status: z.object({ account: z.string().describe('The owner.') }),
  columns: {},
});
const max = 1_000;
const call = {
  caller: { type: 'Anonymous' },
  settings: { limits: { ...defaultLimits, ownedMetadataSize: max } },
} as unknown as Call;
const object = (metadata: object): KindObject =>
  ({ metadata: { name: 'a-1', ...metadata }, spec: {}, status: {} }) as never;
const long = 'x'.repeat(max);

/** Everything in the metadata that callers influence. */
const parts: Record<string, object> = {
  labels: { a: long },
  annotations: { a: long },
  ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: long, uid: 'u' }],
  managedFields: [{ manager: long, operation: 'Apply' }],
};

test.each(Object.keys(parts))('the size of metadata counts %s', (part) => {
  const large = object({ [part]: parts[part] });
  expect(metadataSizeFaults(Owned, large, undefined, call)).toMatchObject([{ field: 'metadata' }]);
  expect(metadataSizeFaults(Owned, large, large, call)).toEqual([]);
  expect(metadataSizeFaults(Owned, object({}), undefined, call)).toEqual([]);
});

test('the parts count together', () => {
  const half = 'x'.repeat(max / 2);
  const both = object({ labels: { a: half }, managedFields: [{ manager: half }] });
  expect(metadataSizeFaults(Owned, both, undefined, call)).toHaveLength(1);
  expect(metadataSizeFaults(Owned, object({ labels: { a: half } }), undefined, call)).toEqual([]);
});
