import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { begin, mailTo, redeem, signIn, wrong } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

describe.each(stores)('a person signs in, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '100'] });
    await createClient(service, 'app');
  });
  afterAll(stopAll);

  test('by emailed code, agrees, and the Client gets verified claims', async () => {
    const done = await signIn(service, 'ada@example.test');
    const { code, body } = await redeem(service, done);
    expect(code).toBe(200);
    expect(body.scope).toBe('openid email');
    const userinfo = await service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${body.access_token}` },
      })
      .is(200);
    expect(userinfo.body).toMatchObject({ email: 'ada@example.test', email_verified: true });
    const own = await done.tab.get('accounts/~').is(200);
    expect(own.body.metadata.name).toBe(userinfo.body.sub);
  });

  test('on two replicas, each step on either', async () => {
    const other = await service.replica();
    const { tab, I } = await begin(service);
    const elsewhere = other.tab();
    elsewhere.cookies = tab.cookies;
    await elsewhere.post(`${I}/emailchallenge`, { spec: { email: 'grace@example.test' } }).is(200);
    const { code } = await mailTo(service, 'grace@example.test');
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(code) } })
      .fails(422, 'Invalid', 'spec.code');
    const { body } = await elsewhere
      .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    expect(body.status.phase).toBe('Authenticated');
    expect((await tab.get(I).is(200)).body.status.returnTo).toBe(body.status.returnTo);
  });
});
