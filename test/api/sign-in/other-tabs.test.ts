import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../provider/support/fixture.js';
import { clock } from '../../support/clock.js';
import { begin, proceed, redeem, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);
afterAll(() => clock.release());

describe.each(stores)('a sign-in beside another one, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    await createClient(service, 'notes');
  });

  test('goes on with the session that the other one made', async () => {
    const tab = service.tab();
    const waiting = await begin(service, { tab, client: 'notes' });
    expect((await tab.get(waiting.I).is(200)).body.status).not.toHaveProperty('resumeTo');
    await signIn(service, `first-${store}@example.test`, { tab });
    const { status } = (await tab.get(waiting.I).is(200)).body;
    expect(status.phase).toBe('LoginRequired');
    expect(status).not.toHaveProperty('returnTo');
    const callback = await proceed(tab, status.resumeTo);
    const { body } = await redeem(service, {
      callback,
      verifier: waiting.verifier,
      client: 'notes',
    });
    expect(body).toHaveProperty('id_token');
    expect((await tab.get(waiting.I).is(200)).body.status).not.toHaveProperty('resumeTo');
    expect((await tab.navigate(status.resumeTo)).code).toBe(400);
  });

  test('that has no session to go on with learns no address of the library', async () => {
    const { tab, I } = await begin(service);
    expect((await tab.get(I).is(200)).body.status).not.toHaveProperty('resumeTo');
  });

  test('is of its own browser alone', async () => {
    const { tab, I } = await begin(service);
    await signIn(service, `own-${store}@example.test`, { tab });
    const { resumeTo } = (await tab.get(I).is(200)).body.status;
    const { tab: other } = await signIn(service, `other-${store}@example.test`);
    expect((await other.navigate(resumeTo)).code).toBe(400);
    await other.get(I).fails(404, 'NotFound');
  });

  test.each([
    ['a new sign-in', { prompt: 'login' }],
    ['a passkey', { acr_values: 'phr' }],
    ['a passkey, by claims', { claims: '{"id_token":{"acr":{"essential":true,"value":"phr"}}}' }],
  ])('that asks for %s does not', async (_, parameters) => {
    const tab = service.tab();
    const { I } = await begin(service, { tab, parameters });
    await signIn(service, `more-${store}@example.test`, { tab });
    expect((await tab.get(I).is(200)).body.status).not.toHaveProperty('resumeTo');
  });

  test('says when it ends, which each visit moves', async () => {
    const { tab, I, name } = await begin(service);
    const leftMs = async (): Promise<number> =>
      Date.parse((await tab.get(I).is(200)).body.status.expirationTimestamp) - Date.now();
    const idleMs = 600_000;
    const around = (ms: number): void => {
      expect(ms).toBeGreaterThan(idleMs - 60_000);
      expect(ms).toBeLessThanOrEqual(idleMs + 1_000);
    };
    around(await leftMs());
    for (let visit = 0; visit < 5; visit += 1) {
      clock.advance(idleMs * 0.9);
      around(await leftMs());
      const visitedAt = Date.now();
      await until(async () => {
        const { entry } = await service.storage.get(`objects/interactions/${name}`);
        const touched = /"touched":(\d+)/.exec(entry!.value.toString())?.[1];
        return visitedAt - Number(touched ?? 0) < 60_000;
      });
    }
    clock.advance(idleMs);
    clock.advance(60_000);
    await tab.get(I).fails(410, 'Expired');
  });
});
