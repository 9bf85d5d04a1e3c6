import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../../kinds/index.js';
import { clock } from '../../support/clock.js';
import { Authenticator } from '../../support/people/authenticator.js';
import { tokenOf } from '../../support/people/device.js';
import {
  askingOf,
  authenticated,
  challenge,
  passkeyLogin,
  register,
  signedInByPasskey,
  signInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import { begin, mailTo, proceed, redeem, signIn } from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(120_000);

const minute = 60_000;
const hour = 60 * minute;
const byMail = 'urn:vestibule:acr:email';

describe.each(stores)('how strong a sign-in is, on %s', (store) => {
  let service: TestService;
  let standing: string;
  let operator: Tab;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    for (const name of ['app', 'bank', 'vault']) await createClient(service, name);
    ({ tab: operator } = await signIn(service, 'op@example.test'));
    standing = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
  });
  afterEach(async () => {
    await service.tab().delete('mockmessages').is(200);
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  const address = (): string => `s${(number += 1)}-${store}@example.test`;
  const policy = async (rules = ''): Promise<void> => {
    ({ tab: operator } = await signIn(service, 'op@example.test'));
    await operator.post('policies', { spec: { cedar: `${standing}\n${rules}` } }).is(201);
  };
  const sameClaims = async (signed: Parameters<typeof redeem>[1]): Promise<any> =>
    JSON.parse(
      Buffer.from(
        (await redeem(service, signed)).body.id_token.split('.')[1],
        'base64url',
      ).toString(),
    );

  /** What a refusal says of the way to sign in that would do. */
  async function wantsPasskey(refused: Pending): Promise<void> {
    const { details } = await refused.fails(403, 'Forbidden');
    expect(details!.methods).toEqual(['Passkey']);
    expect(details!.causes).toEqual([
      { reason: 'ReauthenticationRequired', message: expect.stringContaining('method Passkey') },
    ]);
  }

  test('a mailbox changes nothing of how an account with a passkey is held', async () => {
    const email = address();
    const { name, authenticator } = await signedInByPasskey(service, email);
    const { tab: thief } = await signIn(service, email);
    const attempts = (tab: Tab): Pending[] => [
      tab.post('accounts/~/passkeychallenge', { spec: { purpose: 'Register' } }),
      tab.post('passkeys', {
        spec: {
          credential: { id: 'x', response: { clientDataJSON: 'x', attestationObject: 'x' } },
        },
      }),
      tab.delete(`passkeys/${name}`),
      tab.post('accounts/~/emailchallenge', { spec: { email: address() } }),
      tab.post('accounts/~/email', { spec: { code: '123456' } }),
      tab.delete('accounts/~'),
      tab.get('accounts/~/export'),
    ];
    for (const attempt of attempts(thief)) await wantsPasskey(attempt);
    const { tab } = await signInByPasskey(service, authenticator);
    await tab.get('accounts/~/export').is(200);
    await tab.post('accounts/~/emailchallenge', { spec: { email: address() } }).is(200);
    clock.advance(11 * minute);
    for (const attempt of attempts(tab)) await wantsPasskey(attempt);
    const again = await signInByPasskey(service, authenticator);
    await again.tab.delete(`passkeys/${name}`).is(200);
    const { details } = await (clock.advance(11 * minute),
    again.tab.get('accounts/~/export')).fails(403, 'Forbidden');
    expect(details!.methods).toEqual(['EmailCode', 'EmailLink', 'Passkey']);
  });

  test('a code sent before the account had a passkey changes the address no more', async () => {
    const [email, next] = [address(), address()];
    const { tab: thief } = await signIn(service, email);
    await thief.post('accounts/~/emailchallenge', { spec: { email: next } }).is(200);
    const { code } = await mailTo(service, next);
    const options = await challenge(thief, 'accounts/~', 'Register');
    await service.tab().delete('mockmessages').is(200);
    const { tab: owner } = await signIn(service, email);
    await (await register(service, owner)).answer.is(201);
    await wantsPasskey(thief.post('accounts/~/email', { spec: { code } }));
    const own = new Authenticator();
    await wantsPasskey(
      thief.post('passkeys', {
        spec: { credential: own.create(askingOf(service, options), {}, options.user.id) },
      }),
    );
  });

  test('setup is over ten minutes after the proof', async () => {
    const email = address();
    const slow = await authenticated(service, email);
    const options = await challenge(slow.tab, slow.I, 'Register');
    clock.advance(11 * minute);
    const sent = {
      spec: {
        credential: new Authenticator().create(askingOf(service, options), {}, options.user.id),
      },
    };
    for (const late of [
      slow.tab.post(`${slow.I}/passkeys`, sent),
      slow.tab.post(`${slow.I}/passkeychallenge`, { spec: { purpose: 'Register' } }),
      slow.tab.patch(`${slow.I}/account`, { spec: { displayName: 'x' } }),
    ]) {
      expect((await late.fails(403, 'Forbidden')).details).toMatchObject({
        methods: ['EmailCode', 'EmailLink', 'Passkey'],
        causes: [{ reason: 'ReauthenticationRequired' }],
      });
    }
    await service.tab().delete('mockmessages').is(200);
    const victim = address();
    await withPasskey(service, victim);
    await service.tab().delete('mockmessages').is(200);
    const thief = await authenticated(service, victim);
    await wantsPasskey(
      thief.tab.post(`${thief.I}/passkeychallenge`, { spec: { purpose: 'Register' } }),
    );
    await wantsPasskey(thief.tab.post(`${thief.I}/passkeys`, sent));
    await thief.tab.patch(`${thief.I}/account`, { spec: { displayName: 'x' } }).is(200);
  });

  test('the page leads to a sign-in that takes nothing but a passkey', async () => {
    const tab = service.tab();
    const path = (more: string) =>
      `/oauth2/auth?client_id=vestibule-account&response_type=none&scope=openid&prompt=login&redirect_uri=${encodeURIComponent(`${service.baseURL}/account`)}${more}`;
    const I = (await tab.navigate(path('&vestibule_method=Passkey')).is(303)).headers.location!;
    expect((await tab.get(I).is(200)).body.status.methods).toEqual(['Passkey']);
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code: '123456' } })
      .fails(403, 'Forbidden');
    const other = (await tab.navigate(path('')).is(303)).headers.location!;
    expect((await tab.get(other).is(200)).body.status.methods).toEqual([
      'EmailCode',
      'EmailLink',
      'Passkey',
    ]);
  });

  test('an export is everything that an account owns, and nothing of others', async () => {
    const [{ tab, account }, other] = [
      await signedInByPasskey(service, address()),
      await signedInByPasskey(service, address()),
    ];
    const { body } = await tab.get('accounts/~/export').is(200);
    expect(body).toMatchObject({ apiVersion: 'v1', kind: 'List', metadata: {} });
    const items = body.items as { kind: string; metadata: { name: string }; status: any }[];
    for (const { kind, metadata } of items) {
      expect(kind === 'Account' ? metadata.name : metadata.name.split('-')[0]).toBe(account);
    }
    for (const [kind, path] of [
      ['Account', undefined],
      ['Passkey', 'passkeys'],
      ['Session', 'sessions'],
      ['Grant', 'grants'],
    ] as const) {
      const known = path
        ? (await tab.get(path).is(200)).body.items.map(({ metadata }: any) => metadata.name)
        : [account];
      expect(
        items
          .filter((item) => item.kind === kind)
          .map(({ metadata }) => metadata.name)
          .sort(),
      ).toEqual(known.sort());
    }
    expect(items.some(({ kind }) => kind === 'PolicyDecision')).toBe(true);
    expect(items.filter(({ kind, status }) => kind === 'Session' && status.current)).toHaveLength(
      1,
    );
    expect(JSON.stringify(body)).not.toMatch(/"internal":|publicKey|credentialID|recordKey/);
    expect(
      kinds.filter(({ owner }) => owner === 'spec.account' || owner === 'status.account').length,
    ).toBeGreaterThan(4);
    await other.tab.get(`accounts/${account}/export`).fails(404, 'NotFound');
    await operator.get(`accounts/${account}/export`).fails(403, 'Forbidden');
    await service.tab().get(`accounts/${account}/export`).fails(401, 'Unauthorized');
  });

  test('a passkey added behind an emailed proof is worth that proof at first', async () => {
    const email = address();
    const { tab } = await signIn(service, email);
    const { authenticator, answer } = await register(service, tab);
    const { body } = await answer.is(201);
    const full = Date.parse(body.status.fullStrengthTimestamp);
    expect(full - Date.parse(body.metadata.creationTimestamp)).toBeGreaterThanOrEqual(48 * hour);
    expect(full - Date.parse(body.metadata.creationTimestamp)).toBeLessThanOrEqual(
      48 * hour + 1_000,
    );
    const weak = await signInByPasskey(service, authenticator);
    expect(await sameClaims(weak)).toMatchObject({ acr: byMail, amr: ['otp'] });
    expect((await weak.tab.get('sessions/~').is(200)).body.status).toMatchObject({
      methods: ['Passkey'],
      assurance: byMail,
    });
    const second = await register(service, weak.tab);
    expect(
      (await second.answer.is(201)).body.status.fullStrengthTimestamp >=
        body.status.fullStrengthTimestamp,
    ).toBe(true);

    await policy(
      '@id("bank") @message("The bank wants a passkey.") forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.assurance == "phr" };',
    );
    const { begun, answer: refused } = await passkeyLogin(service, authenticator, {
      client: 'bank',
    });
    expect((await refused.fails(403, 'Forbidden')).message).toContain(
      `The bank wants a passkey. This passkey was added after a sign-in by mail, or the address was in use before. It counts in full from ${body.status.fullStrengthTimestamp} on`,
    );
    expect((await begun.tab.get(begun.I).is(200)).body.status.phase).toBe('LoginRequired');
    const live = await begin(service, { client: 'bank', tab: weak.tab });
    expect((await live.tab.get(live.I).is(200)).body.status).toMatchObject({
      phase: 'LoginRequired',
      methods: ['Passkey'],
    });
    await (
      await passkeyLogin(service, authenticator, { client: 'bank', tab: weak.tab })
    ).answer.fails(403, 'Forbidden');

    clock.advance(full - Date.now() - 2_000);
    await (await passkeyLogin(service, authenticator, { client: 'bank' })).answer.fails(
      403,
      'Forbidden',
    );
    clock.advance(2_000);
    const strong = await signInByPasskey(service, authenticator, { client: 'bank' });
    expect(await sameClaims(strong)).toMatchObject({ acr: 'phr', amr: ['pop', 'user', 'mfa'] });
    const third = await register(service, strong.tab);
    const added = (await third.answer.is(201)).body;
    expect(added.status.fullStrengthTimestamp).toBe(added.metadata.creationTimestamp);
    expect(await sameClaims(await signInByPasskey(service, third.authenticator))).toMatchObject({
      acr: 'phr',
    });
    await policy();
  });

  test('rules may ask how many passkeys a person has, and how and when they signed in', async () => {
    const [has, hasNone] = [address(), address()];
    const { tab, account, authenticator } = await signedInByPasskey(service, has);
    await policy(`@id("own") @message("Use your passkey.") forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.passkeys == 0 || context.assurance == "phr" };
@id("shared") @message("Not shared with so few.") forbid (principal, action == Action::"share", resource == Scope::"email") when { context.client == Client::"vault" && context.passkeys < 1 };
@id("fewer") @message("One is enough.") forbid (principal is Account, action == Action::"create", resource is Passkey) when { context has passkeys && context.passkeys >= 1 && context.methods.contains("Passkey") };
@id("setup") @message("Not in setup.") forbid (principal is Browser, action == Action::"interactions/passkeys", resource) when { context has passkeys && context.passkeys == 0 && context has signInAge && context.methods.contains("EmailCode") && context.assurance == "${byMail}" };
@id("kept") @message("They stay for a minute.") forbid (principal, action == Action::"delete", resource is Passkey) when { context has passkeys && context.passkeys == 1 && context has signInAge && context.signInAge < 60 };
@id("moved") @message("Too late.") forbid (principal, action in [Action::"accounts/email", Action::"accounts/emailchallenge"], resource) when { context has signInAge && context.signInAge >= 60 };`);
    await service.tab().delete('mockmessages').is(200);
    const mailed = await begin(service, { client: 'bank' });
    await mailed.tab.post(`${mailed.I}/emailchallenge`, { spec: { email: has } }).is(200);
    const refused = await mailed.tab
      .post(`${mailed.I}/login`, {
        spec: { method: 'EmailCode', code: (await mailTo(service, has)).code },
      })
      .fails(403, 'Forbidden');
    expect(refused.message).toContain('Use your passkey.');
    const record = await service.store
      .reader(kinds.find(({ kind }) => kind === 'PolicyDecision')!)
      .get(refused.details!.policyDecision!);
    expect(record!.spec.input.facts).toMatchObject({
      account,
      passkeys: 1,
      methods: ['EmailCode'],
      assurance: byMail,
    });
    expect(
      (await signInByPasskey(service, authenticator, { client: 'bank' })).callback.searchParams.get(
        'code',
      ),
    ).toBeTruthy();
    expect(
      (await signIn(service, hasNone, { client: 'bank' })).callback.searchParams.get('code'),
    ).toBeTruthy();

    const shares = await signInByPasskey(service, authenticator, { client: 'vault' });
    expect(shares.callback.searchParams.get('code')).toBeTruthy();
    const begun = await begin(service, {
      client: 'vault',
      tab: (await signIn(service, hasNone)).tab,
    });
    expect(
      (await begun.tab.get(begun.I).is(200)).body.status.consent.scopes.find(
        ({ name }: any) => name === 'email',
      ),
    ).toMatchObject({ allowed: false, reason: 'Not shared with so few.' });

    expect((await (await register(service, tab)).answer.fails(403, 'Forbidden')).message).toContain(
      'One is enough.',
    );
    const [{ metadata }] = (await tab.get('passkeys').is(200)).body.items;
    expect(
      (await tab.delete(`passkeys/${metadata.name}`).fails(403, 'Forbidden')).message,
    ).toContain('They stay for a minute.');
    await tab.post('accounts/~/emailchallenge', { spec: { email: address() } }).is(200);
    clock.advance(61_000);
    expect(
      (
        await tab
          .post('accounts/~/emailchallenge', { spec: { email: address() } })
          .fails(403, 'Forbidden')
      ).message,
    ).toContain('Too late.');
    expect(
      (await tab.post('accounts/~/email', { spec: { code: '123456' } }).fails(403, 'Forbidden'))
        .message,
    ).toContain('Too late.');
    await service.tab().delete('mockmessages').is(200);
    const fresh = await authenticated(service, address());
    const options = await challenge(fresh.tab, fresh.I, 'Register');
    const credential = new Authenticator().create(askingOf(service, options), {}, options.user.id);
    expect(
      (
        await fresh.tab
          .post(`${fresh.I}/passkeys`, { spec: { credential } })
          .fails(403, 'Forbidden')
      ).message,
    ).toContain('Not in setup.');
    await proceed(fresh.tab, (await fresh.tab.get(fresh.I).is(200)).body.status.returnTo);
    await policy();
  });

  test('each of these facts is known to each of these decisions', async () => {
    const { tab, authenticator } = await signedInByPasskey(service, address());
    const facts =
      'context has passkeys && context.passkeys == 1 && context has signInAge && context.signInAge < 60 && context.methods.contains("Passkey") && context.assurance == "phr"';
    await policy(`@id("in") @message("Not in.") forbid (principal, action == Action::"signIn", resource == Client::"vault") unless { ${facts} };
@id("out") @message("Not out.") forbid (principal, action == Action::"share", resource) when { context has client && context.client == Client::"vault" } unless { ${facts} };
@id("key") @message("No key.") forbid (principal is Account, action in [Action::"create", Action::"delete"], resource is Passkey) unless { ${facts} };
@id("move") @message("No move.") forbid (principal, action in [Action::"accounts/email", Action::"accounts/emailchallenge"], resource) unless { ${facts} };`);
    const signed = await signInByPasskey(service, authenticator, { client: 'vault' });
    const { body } = await redeem(service, signed);
    const released = () =>
      service.tab().send('GET', '/oauth2/userinfo', {
        plain: true,
        cookies: false,
        headers: { authorization: `Bearer ${body.access_token}` },
      });
    expect((await released().is(200)).body.email).toMatch(/@example\.test$/);
    const [{ metadata }] = (await tab.get('passkeys').is(200)).body.items;
    const options = await challenge(tab, 'accounts/~', 'Register');
    const credential = new Authenticator().create(askingOf(service, options), {}, options.user.id);
    const attempts = (): [Pending, string][] => [
      [tab.delete(`passkeys/${metadata.name}`), 'No key.'],
      [tab.post('passkeys', { spec: { credential } }), 'No key.'],
      [tab.post('accounts/~/emailchallenge', { spec: { email: address() } }), 'No move.'],
      [tab.post('accounts/~/email', { spec: { code: '12345678' } }), 'No move.'],
    ];
    clock.advance(61_000);
    expect((await released()).code).toBe(403);
    const { tab: later, I } = await begin(service, { client: 'vault', tab: signed.tab });
    expect((await later.get(I).is(200)).body.status).toMatchObject({
      phase: 'LoginRequired',
      methods: ['Passkey'],
    });
    for (const [attempt, why] of attempts()) {
      expect((await attempt.fails(403, 'Forbidden')).message).toContain(why);
    }
    clock.advance(-61_000);
    await tab.post('accounts/~/emailchallenge', { spec: { email: address() } }).is(200);
    await tab.post('passkeys', { spec: { credential } }).is(201);
    await policy();
  });

  test('a token of the command goes by the sign-in behind it', async () => {
    const email = address();
    const { tab, authenticator } = await signedInByPasskey(service, email);
    const { tab: mailed } = await signIn(service, email);
    const asked = async (from: Tab): Promise<number> => {
      const token = await tokenOf(service, from);
      return (
        await service.tab().get('accounts/~', {
          plain: true,
          cookies: false,
          headers: { authorization: `Bearer ${token}` },
        })
      ).code;
    };
    await policy(
      '@id("own") @message("No.") forbid (principal is Account, action == Action::"get", resource is Account) when { context has passkeys && context.passkeys > 0 } unless { context.assurance == "phr" && context.methods.contains("Passkey") && context has signInAge && context.signInAge < 600 };',
    );
    expect(await asked(tab)).toBe(200);
    expect(await asked(mailed)).toBe(404);
    await policy();
    await signInByPasskey(service, authenticator);
  });
});
