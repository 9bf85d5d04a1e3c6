import { afterAll, describe, expect, test } from '@jest/globals';
import { decisionCountKey } from '../../../kinds/policy/decision-count-key.js';
import { settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const max = 100;

describe.each(stores)('decisions about one account, on %s', (store) => {
  test('are never more than may be: the oldest go in the commit that adds one', async () => {
    const service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--limits-decisions-per-account', String(max), '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    const other = await service.replica();
    const { tab } = await signIn(service, 'busy@example.test');
    const elsewhere = other.tab();
    elsewhere.cookies = tab.cookies;
    const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
    const keys = async (): Promise<string[]> =>
      (
        await service.storage.list({
          start: `objects/policydecisions/${name}-1`,
          end: `objects/policydecisions/${name}.`,
        })
      ).entries.map(({ key }) => key);
    const seen: number[] = [];
    const rename = async (one: Tab, i: number): Promise<void> => {
      await one.patch('accounts/~', { spec: { displayName: `Name ${i}` } }).is(200);
      seen.push((await keys()).length);
    };
    for (let i = 0; i < 55; i += 1) {
      await Promise.all([rename(tab, 2 * i), rename(elsewhere, 2 * i + 1)]);
    }
    expect(Math.max(...seen)).toBeLessThanOrEqual(max);
    expect(Math.max(...seen)).toBeGreaterThan(max - 5);
    expect(seen.at(-1)).toBeLessThan(max);

    const before = await keys();
    await rename(tab, 1_000);
    const [newest] = (await keys()).filter((key) => !before.includes(key));
    expect((await keys())[0]).toBe(newest);
    expect(
      Number((await service.storage.get(decisionCountKey(name))).entry!.value.toString()),
    ).toBe((await keys()).length);
    await refusalsCount(tab, keys);
  });
});

/** Refusals, which are written behind the answer, count as changes do. */
async function refusalsCount(tab: Tab, keys: () => Promise<string[]>): Promise<void> {
  const before = await keys();
  for (let i = 0; i < 50; i += 1) {
    await tab.patch('clients/app', { spec: { displayName: 'Mine' } }).is(404);
  }
  const after = await settles(
    keys,
    (now) => now.filter((key) => !before.includes(key)).length >= 50,
  );
  expect(after.length).toBeLessThanOrEqual(max);
}
