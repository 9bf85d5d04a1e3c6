import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { settles } from '../../support/patience.js';
import { authorizationPath, begin, mailTo, proceed, signIn } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { temporary } from '../../support/service.js';
import { Quorum, tell, whole } from './quorum.js';

jest.setTimeout(600_000);

/** The replica whose clock jumps. */
const jumping = 2;
const hour = 3_600_000;
const jumps = whole ? [hour, -hour, 24 * hour, -24 * hour] : [hour];

let quorum: Quorum;
let file: string;
beforeAll(async () => {
  file = join(temporary(), 'clock');
  const preload = join(import.meta.dirname, 'clockjump.mjs');
  quorum = await Quorum.start({
    replicas: 3,
    environment: (replica): Record<string, string> =>
      replica === jumping ? { NODE_OPTIONS: `--import ${preload}`, TEST_CLOCK_FILE: file } : {},
  });
});
afterEach(() => {
  writeFileSync(file, '0');
});
afterAll(async () => {
  await quorum?.end();
});

const at = (replica: number, { cookies }: Tab): Tab =>
  Object.assign(quorum.replicas[replica]!.tab(), { cookies: [...cookies] });
const readiness = (): Promise<number[]> =>
  Promise.all(
    quorum.replicas.map((replica) =>
      Promise.resolve(replica.tab().get('/readyz', { plain: true })).then(({ code }) => code),
    ),
  );
/** Moves the clock of the replica by so many milliseconds, and waits until it has. */
async function jump(by: number): Promise<void> {
  writeFileSync(`${file}.seen`, '');
  writeFileSync(file, String(by));
  await settles(
    async () => readFileSync(`${file}.seen`, 'utf8'),
    (seen) => seen === String(by),
  );
}
const redeemed = (replica: number, code: string, verifier: string): PromiseLike<Answer> =>
  quorum.replicas[replica]!.tab().send('POST', '/oauth2/token', {
    plain: true,
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://app.example.test/callback',
      client_id: 'app',
      code_verifier: verifier,
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

test.each(jumps)(
  'the clock of one replica jumps by %i ms: the others serve as before',
  async (by) => {
    await settles(readiness, (codes) => codes.every((code) => code === 200));
    const before = await signIn(quorum.replicas[0]!, `before${by}@example.test`);
    await jump(by);
    expect(await readiness()).toEqual([200, 200, 200]);
    await at(0, before.tab).get('accounts/~').is(200);

    const there = quorum.replicas[jumping]!;
    const { tab, I } = await begin(there);
    await tab.post(`${I}/emailchallenge`, { spec: { email: `during${by}@example.test` } });
    const seen = await at(jumping, tab).get(I);
    // What was over more than an hour ago is swept as soon as it is written.
    if (by >= -hour || seen.code !== 404) {
      expect(
        Math.abs(
          Date.parse(seen.body.status.emailChallenge.expirationTimestamp) -
            (Date.now() + by + 600_000),
        ),
      ).toBeLessThan(60_000);
    }
    // What was written an hour ago is over for the others, who may have dropped its mail: any code
    // does.
    const code =
      by < 0 ? '00000000' : (await mailTo(quorum.replicas[0]!, `during${by}@example.test`)).code;
    const answer = await at(0, tab).post(`${I}/login`, { spec: { method: 'EmailCode', code } });
    if (by < 0) expect([404, 410]).toContain(answer.code);

    await jump(0);
    const verifier = 'v'.repeat(43);
    const callback = await proceed(before.tab, authorizationPath('app', 'openid email', verifier));
    expect((await redeemed(jumping, callback.searchParams.get('code')!, verifier)).code).toBe(200);
    tell(`a clock ${by / hour} h off: what it made was answered ${answer.code} elsewhere`);
  },
);
