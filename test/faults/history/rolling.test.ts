import { expect } from '@jest/globals';
import { scaled, settles } from '../../support/patience.js';
import { seed } from '../../support/random.js';
import { Quorum, tell, whole } from '../quorum/quorum.js';
import type { Served } from '../served.js';
import { Tail } from './log.js';
import { type Harm, operatorManifest } from './record.js';
import { historySuite, secondsOr } from './suite.js';

/** Ten rolls of both, among fifty watchers, by hand. */
const [seconds, crowd] = [secondsOr(whole ? 180 : 10), whole ? 50 : 20];
const took: number[] = [];

/**
 * SIGTERM, and another start once it has ended; it is unready at once, ends by itself in time and
 * cleanly.
 */
async function roll(one: Served): Promise<void> {
  const from = performance.now();
  const ended = one.stop();
  await settles(
    () =>
      one
        .tab()
        .get('/readyz', { plain: true })
        .then(
          ({ code }) => code,
          () => 0,
        ),
    (code) => code !== 200,
  );
  expect(performance.now() - from).toBeLessThan(scaled(3_000));
  expect(await ended).toBe(0);
  took.push(performance.now() - from);
  await one.again();
}

historySuite(
  'rolling',
  seconds,
  async () => {
    const quorum = await Quorum.start({ manifest: operatorManifest });
    const tail = await Tail.begin(quorum.members.map(({ endpoint }) => endpoint)).catch(
      async (error: unknown) => {
        await quorum.end();
        throw error;
      },
    );
    const end = async (): Promise<void> => {
      await tail.end();
      await quorum.end();
    };
    let turn = 0;
    const harms: Harm[] = [
      { what: 'a replica restarted', do: () => roll(quorum.replicas[turn++ % 2]!) },
    ];
    return {
      end,
      plan: {
        seed,
        seconds,
        places: quorum.replicas,
        harms,
        crowd,
        about: `two replicas rolled with ${crowd + 6} watchers, ${quorum.about}`,
        log: (from, to) => tail.between(from, to),
      },
    };
  },
  ({ codes }) => {
    tell(
      `rolled ${took.length} times; the longest stop took ${Math.max(...took).toFixed(0)} ms; answers: ${[...codes].map(([code, count]) => `${count} × ${code}`).join(', ')}`,
    );
    expect([...codes.keys()].filter((code) => code >= 500 && code !== 503)).toEqual([]);
    expect(Math.max(...took)).toBeLessThan(scaled(12_500));
    expect(took.length).toBeGreaterThanOrEqual(whole ? 20 : 1);
  },
);
