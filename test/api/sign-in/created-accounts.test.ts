import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtInScopes } from '../../../kinds/apps/claims/scopes.js';
import { Interaction } from '../../../kinds/interaction/interaction.js';
import { Account } from '../../../kinds/people/account/account.js';
import { redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('an account that an operator creates, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });
  const create = (spec: object, query = '') => operator.post(`accounts${query}`, { spec });

  test('is not verified until its address signs in, with sign-up closed too', async () => {
    const { metadata, spec, status } = (
      await create({ email: 'Ada@example.test', displayName: 'Ada' }).is(201)
    ).body;
    expect(spec).toEqual({ displayName: 'Ada' });
    expect(status.email).toEqual({ address: 'Ada@example.test' });
    const account = (await service.store.reader(Account).get(metadata.name))!;
    const email = builtInScopes.find(({ name }) => name === 'email')!;
    const claims = () => email.values!({ account, sub: metadata.name, groups: [] });
    expect(claims()).toEqual({ email: 'Ada@example.test', email_verified: false });

    const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
    const closed =
      '@id("closed") @message("Closed.") forbid (principal, action == Action::"signUp", resource);';
    await operator.post('policies', { spec: { cedar: `${cedar}${closed}` } }).is(201);
    const done = await signIn(service, 'ada@example.test');
    const { body } = await done.tab.get('accounts/~').is(200);
    expect(body.metadata.name).toBe(metadata.name);
    expect(body.status.email).toEqual({
      address: 'Ada@example.test',
      verifiedTimestamp: expect.any(String),
    });
    const { access_token: token } = (await redeem(service, done)).body;
    const userinfo = await service
      .tab()
      .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } })
      .is(200);
    expect(userinfo.body).toMatchObject({ email: 'Ada@example.test', email_verified: true });
    await create({ email: 'ADA@example.test' }).fails(409, 'AlreadyExists');
  });

  test('counts its first sign-in as the sign-up, and later ones not', async () => {
    await create({ email: 'grace@example.test' }).is(201);
    const isSignUp = async (): Promise<boolean | undefined> => {
      const { name } = await signIn(service, 'grace@example.test');
      return (await service.store.reader(Interaction).get(name))!.internal.login!.isSignUp;
    };
    expect(await isSignUp()).toBe(true);
    expect(await isSignUp()).toBeUndefined();
  });

  test('is refused for a wrong address and for others than operators', async () => {
    await create({ email: 'a%b@example.test' }).fails(422, 'Invalid', 'spec.email');
    await create({ displayName: 'No address' }).fails(422, 'Invalid', 'spec.email');
    await create({ email: 'dry@example.test' }, '?dryRun=All').is(201);
    await create({ email: 'dry@example.test' }).is(201);
    const { tab } = await signIn(service, 'dry@example.test');
    await tab.post('accounts', { spec: { email: 'x@example.test' } }).fails(403, 'Forbidden');
  });
});
