import { expect, test } from '@jest/globals';
import { timeOfId, timeOrderedId } from '../../registry/schema/time-ordered-id.js';

test('an Audit-ID is a UUID of version 7 that has its time and sorts by it', () => {
  const now = 1_796_066_886_123;
  const id = timeOrderedId(now);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(timeOfId(id)).toBe(now);
  expect(timeOrderedId(now)).not.toBe(id);
  expect(timeOrderedId(now + 1) > id).toBe(true);
});

test.each([
  'system',
  '',
  'b7e2a7a2-7d64-4a52-9a38-8b6c3e3c3c55',
  '01a22ded-c347-7453-9fcc-6930b3d609c3x',
])('an Audit-ID that came with a request has no time: %j', (id) =>
  expect(timeOfId(id)).toBeUndefined(),
);
