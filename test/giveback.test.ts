import { expect, test } from '@jest/globals';
import { giveBack } from '../cmd/vestibule/serve/release-startup-heap.js';

test('what nobody needs any more is gone once memory was given back', async () => {
  let held: unknown = Array.from({ length: 200_000 }, (_, i) => ({ i }));
  const gone = new WeakRef(held as object);
  held = undefined;
  await new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
  await giveBack();
  expect(gone.deref()).toBeUndefined();
  expect(held).toBeUndefined();
});
