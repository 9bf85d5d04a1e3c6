import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authenticated } from '../../support/people/passkeys.js';
import { proceed, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('what an account may write, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: [
        '--limits-account-changes',
        '50',
        '--limits-account-bytes',
        '256Ki',
        '--operators',
        'root@example.test',
      ],
    });
    await createClient(service, 'app');
    other = await service.replica();
  });

  const rename = (tab: Tab, i: number) =>
    tab.patch('accounts/~', { spec: { displayName: `Name ${i}` } });
  const note = (bytes: number) => ({ metadata: { annotations: { note: 'x'.repeat(bytes) } } });

  test('more changes than fifty in a day are refused on every replica', async () => {
    const { tab } = await signIn(service, 'busy@example.test');
    const elsewhere = other.tab();
    elsewhere.cookies = tab.cookies;
    for (let i = 1; i < 50; i += 1) await rename(i % 2 ? tab : elsewhere, i).is(200); // after a consent
    for (const one of [tab, elsewhere]) {
      const refused = await rename(one, 99).fails(429, 'TooManyRequests');
      expect(refused.details!.retryAfterSeconds).toBeLessThanOrEqual(86_400);
    }
    const { tab: quiet } = await signIn(service, 'quiet@example.test');
    await rename(quiet, 1).is(200);
    await tab.delete('sessions/~').is(200);
  });

  test('many bytes are refused for the rest of the day, even if none of them is stored', async () => {
    const { tab } = await signIn(service, 'large@example.test');
    for (let i = 0; i < 2; i += 1) {
      await tab.patch('accounts/~', note(100_000)).fails(422, 'Invalid', 'metadata');
    }
    await tab.patch('accounts/~', note(100_000)).fails(429, 'TooManyRequests');
  });

  test('what is changed while an account is set up counts for the same day', async () => {
    const { tab, I } = await authenticated(service, 'setup@example.test');
    const inSetup = (i: number) =>
      tab.patch(`${I}/account`, { spec: { displayName: `Name ${i}` } });
    for (let i = 0; i < 47; i += 1) await inSetup(i).is(200);
    await proceed(tab, (await tab.get(I).is(200)).body.status.returnTo);
    await rename(tab, 1).is(200);
    await service.tab().delete('mockmessages').is(200);
    const again = await authenticated(service, 'setup@example.test');
    await again.tab.patch(`${again.I}/account`, { spec: { displayName: 'Last' } }).is(200);
    await again.tab
      .patch(`${again.I}/account`, { spec: { displayName: 'More' } })
      .fails(429, 'TooManyRequests');
    await rename(tab, 2).fails(429, 'TooManyRequests');
  });

  test('metadata beyond 4 KiB in all is refused, also bit by bit; operators keep theirs', async () => {
    const { tab } = await signIn(service, 'notes@example.test');
    await tab.patch('accounts/~', note(3_000)).is(200);
    await tab
      .patch('accounts/~', {
        metadata: {
          labels: Object.fromEntries(
            Array.from({ length: 30 }, (_, i) => [`label-${i}`, 'y'.repeat(40)]),
          ),
        },
      })
      .fails(422, 'Invalid', 'metadata');
    await tab.patch('accounts/~', note(2_000)).is(200);
    const { tab: operator } = await signIn(service, 'root@example.test');
    for (let i = 0; i < 3; i += 1) {
      await operator
        .post('groups', {
          metadata: { name: `large-${i}`, annotations: { note: 'z'.repeat(100_000) } },
          spec: { displayName: 'x' },
        })
        .is(201);
    }
  });
});
