import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WatchQuota } from '../../apiserver/handlers/watch/watch-quota.js';
import { mailLimits } from '../../kinds/interaction/email-challenge.js';
import { loginLimit } from '../../kinds/interaction/login.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { wrongCodes } from '../../kinds/signin/code-throttle.js';
import { storedBytesLimit } from '../../provider/adapter/attempt-limit.js';
import { userCodeLimit } from '../../provider/adapter/user-code.js';
import { documentLimit } from '../../provider/configuration/client-documents.js';
import { requestLimits } from '../../provider/http/handle.js';
import { LimitRefusals } from '../../registry/limits/limit-refusals.js';
import { NetworkLimits } from '../../registry/limits/network-limits.js';
import type { Limit } from '../../registry/limits/rate-limit.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Storage } from '../../storage/storage.js';

let folder: string;
let storage: Storage;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vestibule-stranger-'));
  storage = await openEmbedded({ directory: folder });
});
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

/** Networks as wide as each column says; each call is another one. */
let number = 0;
const networks: Record<string, () => string[]> = {
  'one /64': () => [`2001:db8:${((number += 1)).toString(16)}:1::/64`],
  'one /56': () => spread(256, (i) => `${site()}:${(0x4400 + i).toString(16)}::/64`),
  'one /48': () => spread(2_000, (i) => `${site()}:${(i * 32).toString(16)}::/64`),
  'one IPv4 address': () => [`198.18.${(number += 1)}.7`],
  'one /24': () => spread(256, (i) => `198.19.${number + 1}.${i}`),
};
const site = (): string => `2001:db8:${number.toString(16)}`;
function spread(count: number, of: (i: number) => string): string[] {
  number += 1;
  return Array.from({ length: count }, (_, i) => of(i));
}

const now = 1_800_000_000_000;

/**
 * How much is had in one window by asking from every one of these networks in turn, of three
 * replicas, until each is refused.
 */
async function drained(limit: Limit, all: readonly string[], amount: number): Promise<number> {
  const replicas = Array.from(
    { length: 3 },
    () => new NetworkLimits(storage, 1, { ...defaultLimits, limitRecords: 10_000_000 }),
  );
  let taken = 0;
  for (let open = all.map((network, i) => ({ network, at: replicas[i % 3]! })); open.length > 0; ) {
    const left: typeof open = [];
    for (const one of open) {
      const had = await one.at.spend(limit, one.network, now, amount).then(
        () => true,
        () => false,
      );
      if (had) {
        taken += amount;
        left.push(one);
      }
    }
    open = left;
  }
  return taken;
}

/**
 * Watches that can be opened at once from all of these networks, by browsers that each began a
 * sign-in.
 */
function watches(all: readonly string[]): number {
  const places = new WatchQuota(defaultLimits, new LimitRefusals());
  let open = 0;
  for (let round = 0; round < 400; round += 1) {
    for (const [i, network] of all.entries()) {
      try {
        const interaction = `i${round}-${i}`;
        places.acquire({ type: 'Browser', interaction, session: interaction }, network);
        open += 1;
      } catch {
        /* refused */
      }
    }
  }
  return open;
}

const limits = defaultLimits;
const rows: (readonly [string, string, Limit, number])[] = [
  ['mails', '15 minutes', mailLimits(limits, 'stranger').network, 1],
  ['wrong codes', '15 minutes', wrongCodes(limits), 1],
  ['authorization requests', '1 minute', requestLimits.get('/oauth2/auth')!(limits), 1],
  ['pushed requests', '1 minute', requestLimits.get('/oauth2/par')!(limits), 1],
  ['tries to sign in', '1 minute', loginLimit(limits), 1],
  ['wrong codes of devices', '15 minutes', userCodeLimit(limits), 1],
  ['metadata documents fetched', '1 minute', documentLimit(limits), 1],
  ['KiB kept of requests', '10 minutes', storedBytesLimit(limits), 1_024],
];

test('the page says what one stranger was measured to get, by each sort of network', async () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../docs/explanation/what-one-stranger-can-cost.md'),
    'utf8',
  );
  const measured: string[] = [];
  for (const [what, time, limit, amount] of rows) {
    const found: number[] = [];
    for (const of of Object.values(networks)) {
      found.push(
        (await drained(
          { ...limit, inAll: limit.inAll === undefined ? 1e12 : Math.max(limit.inAll, 1e12) },
          of(),
          amount,
        )) / amount,
      );
    }
    const all = limit.inAll === undefined ? 'no ceiling' : String(limit.inAll / amount);
    measured.push(`| ${what} | ${time} | ${found.join(' | ')} | ${all} |`);
  }
  measured.push(
    `| watches of sign-ins | at a time | ${Object.values(networks)
      .map((of) => watches(of().slice(0, 60)))
      .join(' | ')} | ${limits.watchesOfStrangers} |`,
  );
  expect(
    page
      .split('\n')
      .filter((line) => line.endsWith('|'))
      .slice(2, 2 + measured.length),
  ).toEqual(measured);
}, 600_000);
