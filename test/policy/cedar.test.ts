import { expect, test } from '@jest/globals';
import { loadCedar } from '../../policy/parse/cedar.js';

/**
 * V8 before 13 ends the process here: it must throw `ask` back to the interpreter while `ask` is
 * inside Cedar.
 */
test('a function optimised around a call into Cedar can be deoptimised in one', async () => {
  const cedar = await loadCedar();
  class Holder {
    value(): number {
      return 1;
    }
  }
  const holder = new Holder();
  let change = false;
  const policies = {
    staticPolicies: '',
    toJSON() {
      if (change) Holder.prototype.value = () => 2;
      return { staticPolicies: '' };
    },
  };
  const ask = (): number => {
    const { type } = cedar.checkParsePolicySet(policies);
    return holder.value() + (type === 'success' ? 1 : 0);
  };
  for (let i = 0; i < 60_000; i++) ask();
  change = true;
  expect(ask()).toBe(3);
});
