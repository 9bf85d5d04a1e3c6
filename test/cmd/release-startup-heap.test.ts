import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { releaseStartupHeap } from '../../cmd/vestibule/serve/release-startup-heap.js';

const makeGarbage = (): WeakRef<object> =>
  new WeakRef(Array.from({ length: 200_000 }, (_, i) => ({ i })));

test('garbage is gone after the heap of the start is released', async () => {
  const garbage = makeGarbage();
  await turn();
  await releaseStartupHeap();
  expect(garbage.deref()).toBeUndefined();
});
