import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { limitKey } from '../../../registry/limits/rate-limit.js';
import { prefixRange } from '../../../storage/storage.js';
import { clock } from '../../support/clock.js';
import fc from '../../support/fast-check.js';
import { type Begun, begin, wrong } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** What one client network may; the /48 around it four times as much. */
const narrow = { mails: 3 };
const wide = { mails: 12, guesses: 20 };
const flags = [
  '--trusted-proxies',
  '127.0.0.1',
  '--limits-mails-per-network',
  String(narrow.mails),
  '--limits-wrong-codes-per-network',
  '5',
  '--limits-network-factor-wide',
  '4',
  '--limits-wrong-codes-per-address',
  '1000',
];

interface Step {
  readonly subnet: number;
  readonly host: number;
  readonly browser: number;
  readonly replica: number;
  readonly does: 'mail' | 'guess';
  readonly address: number;
}

const steps = fc.array(
  fc.record<Step>({
    subnet: fc.integer({ min: 0, max: 0xffff }),
    host: fc.integer({ min: 1, max: 0xffff }),
    browser: fc.integer({ min: 0, max: 5 }),
    replica: fc.integer({ min: 0, max: 1 }),
    does: fc.constantFrom('mail', 'guess', 'guess'),
    address: fc.integer({ min: 0, max: 200 }),
  }),
  { minLength: 60, maxLength: 120, size: 'max' },
);

describe.each(stores)('one /48 never gets one more than its ceiling, over %s', (store) => {
  let replicas: TestService[];
  let site = 0;
  beforeAll(async () => {
    const first = await startTest({ store, flags });
    replicas = [first, await first.replica()];
    await createClient(first, 'app');
  });
  afterEach(() => {
    clock.release();
  });

  test('with any requests by its addresses and browsers at any replicas, in any order', async () => {
    clock.own();
    clock.advance(900_000 - (Date.now() % 900_000) + 1_000); // nothing below crosses the end of a window
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        site += 1;
        const done = await play(all, `2001:db8:${site.toString(16)}`);
        expect(done.mails).toBeLessThanOrEqual(wide.mails);
        expect(done.guesses).toBeLessThanOrEqual(wide.guesses);
        const key = limitKey(
          { name: 'mailnetwork', max: 0, seconds: 0 },
          `2001:db8:${site.toString(16)}::/48`,
        );
        const records = (await replicas[0]!.storage.list(prefixRange('limits/mailnetwork/')))
          .entries;
        expect(records.filter((entry) => entry.key === key)).toHaveLength(1);
        expect(records.length).toBeLessThanOrEqual(site + 1);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  /**
   * Carries the steps out from one site, some at once; how many mails were sent and how many
   * codes judged.
   */
  async function play(
    all: readonly Step[],
    prefix: string,
  ): Promise<{ mails: number; guesses: number }> {
    const browsers = new Map<number, Begun>();
    const done = { mails: 0, guesses: 0 };
    const once = async ({ subnet, host, browser, replica, does, address }: Step): Promise<void> => {
      const at = replicas[replica]!;
      let begun = browsers.get(browser);
      const headers = {
        'x-forwarded-for': `${prefix}:${subnet.toString(16)}::${host.toString(16)}`,
      };
      if (!begun || does === 'mail') {
        browsers.set(
          browser,
          (begun = await begin(at, { tab: Object.assign(at.tab(), { headers }) })),
        );
      }
      if (does === 'mail') {
        const { code } = await begun.tab.post(
          `${begun.I}/emailchallenge`,
          { spec: { email: `p${address}@example.test` } },
          { headers },
        );
        if (code === 200) {
          done.mails += 1;
        } else {
          expect(code).toBe(429);
        }
        return;
      }
      const { code } = await begun.tab.post(
        `${begun.I}/login`,
        { spec: { method: 'EmailCode', code: wrong(String(address).padStart(8, '0')) } },
        { headers },
      );
      if (code === 422) {
        done.guesses += 1;
      } else {
        expect([410, 429]).toContain(code);
      }
    };
    for (let i = 0; i < all.length; i += 4) await Promise.all(all.slice(i, i + 4).map(once));
    return done;
  }
});
