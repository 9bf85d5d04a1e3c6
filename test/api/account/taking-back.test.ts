import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { Group } from '../../../kinds/people/group/group.js';
import { Recovery } from '../../../kinds/people/recovery/recovery.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import { Authenticator } from '../../support/people/authenticator.js';
import {
  confirmedDeviceCode,
  redeemDeviceCode,
  refreshCommand,
  tokenOf,
} from '../../support/people/device.js';
import {
  askingOf,
  authenticated,
  challenge,
  register,
  signInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import {
  authorizationPath,
  isNoNotice,
  mailTo,
  proceed,
  redeem,
  signIn,
} from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(240_000);

const hour = 3_600_000;

/** What a thief may hold of an account. */
const holdings = [
  'session',
  'sign-in under way',
  'access token of the command',
  'refresh token of the command',
  'watch of the command',
  'device code of the command',
  'access token of an app',
  'refresh token of an app',
  'code of an app',
] as const;
type Holding = (typeof holdings)[number];

const ofCommand = holdings.filter((holding) => holding.endsWith('of the command'));
const ofSession = ['session', 'sign-in under way', ...ofCommand] as const;

/** Whether each thing that a thief holds still works. */
type Works = Readonly<Record<Holding, () => Promise<boolean>>>;

describe.each(stores)('taking an account back, on %s', (store) => {
  let service: TestService;
  let operator: Authenticator;
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    operator = (await withPasskey(service, 'op@example.test')).authenticator;
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(Group, {
        metadata: { name: 'operators' },
        spec: { displayName: 'Operators', members: ['op@example.test'] },
      }),
    );
  });
  afterEach(async () => {
    await empty();
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  const address = (): string => `b${(number += 1)}-${store}@example.test`;
  const empty = () => service.tab().delete('mockmessages').is(200);
  const byMailbox = async (email: string): Promise<Tab> => {
    const { tab } = await signIn(service, email);
    await empty();
    return tab;
  };

  const refreshApp = (token: string) =>
    service.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: 'app',
        refresh_token: token,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const bearer = (path: string, token: string) =>
    service.tab().get(path, {
      plain: true,
      cookies: false,
      headers: { authorization: `Bearer ${token}` },
    });

  /** Takes everything that a mailbox gives. */
  async function hold(email: string): Promise<Works> {
    const offline = { scope: 'openid email offline_access', parameters: { prompt: 'consent' } };
    const signed = await signIn(service, email, offline);
    const { tab } = signed;
    const app = (await redeem(service, signed)).body;
    const other = await signIn(service, email, offline);
    const command = await redeemDeviceCode(service, await confirmedDeviceCode(service, tab));
    const deviceCode = await confirmedDeviceCode(service, tab);
    const watch = new Stream(service.tab(), 'sessions?watch=true', undefined, command.access_token);
    await until(async () => watch.code === 200);
    await empty();
    const half = await authenticated(service, email);
    await empty();
    return {
      session: async () => (await tab.get('accounts/~')).code === 200,
      'sign-in under way': async () => {
        const { body } = await half.tab.get(half.I);
        return proceed(half.tab, body.status.returnTo).then(
          async () => (await half.tab.get('accounts/~')).code === 200,
          () => false,
        );
      },
      'access token of the command': async () =>
        (await bearer('accounts/~', command.access_token)).code === 200,
      'refresh token of the command': async () =>
        (await refreshCommand(service, command.refresh_token)).error === undefined,
      'watch of the command': async () => {
        if ((await bearer('accounts/~', command.access_token)).code === 200) return !watch.ended;
        await until(async () => watch.ended);
        return false;
      },
      'device code of the command': async () =>
        (await redeemDeviceCode(service, deviceCode)).error === undefined,
      'access token of an app': async () =>
        (await bearer('/oauth2/userinfo', app.access_token)).code === 200,
      'refresh token of an app': async () => (await refreshApp(app.refresh_token)).code === 200,
      'code of an app': async () => (await redeem(service, other)).code === 200,
    };
  }

  interface Owner {
    readonly email: string;
    readonly tab: Tab;
    readonly account: string;
    readonly passkey?: string;
  }

  /** How an account is taken back, whether it has a passkey before, and what must be dead then. */
  const acts: readonly {
    act: string;
    passkey: boolean;
    dead: readonly Holding[];
    take: (owner: Owner) => Promise<unknown>;
  }[] = [
    {
      act: 'signs out everywhere else',
      passkey: false,
      dead: ofSession,
      take: async ({ tab }) => {
        const current = (await tab.get('sessions/~').is(200)).body.metadata.name;
        await tab.delete(`sessions?fieldSelector=metadata.name!%3D${current}`).is(200);
      },
    },
    {
      act: 'signs out everywhere, here too',
      passkey: false,
      dead: ofSession,
      take: async ({ tab }) => tab.delete('sessions').is(200),
    },
    {
      act: 'signs out everywhere by the command',
      passkey: false,
      dead: ofSession,
      take: async ({ tab }) => {
        const token = await tokenOf(service, tab);
        const { code } = await tab.send('DELETE', 'sessions', {
          plain: true,
          cookies: false,
          headers: { authorization: `Bearer ${token}` },
        });
        expect(code).toBe(200);
      },
    },
    {
      act: 'signs out everywhere while the thief changes the account all the time',
      passkey: false,
      dead: ofSession,
      take: async ({ tab, email }) => {
        const thief = await byMailbox(email);
        const over = new AbortController();
        const disturb = async (): Promise<void> => {
          for (let i = 0; !over.signal.aborted; i += 1) {
            await thief.patch('accounts/~', { spec: { displayName: `Eve ${i}` } });
          }
        };
        const disturbing = Promise.all(Array.from({ length: 6 }, disturb));
        await tab.delete('sessions').is(200);
        over.abort();
        await disturbing;
      },
    },
    {
      act: 'adds a passkey on the account page',
      passkey: false,
      dead: ofCommand,
      take: async ({ tab }) => (await register(service, tab)).answer.is(201),
    },
    {
      act: 'adds a passkey in a sign-in',
      passkey: false,
      dead: ofCommand,
      take: async ({ email }) => {
        const { tab, I } = await authenticated(service, email);
        const options = await challenge(tab, I, 'Register');
        const credential = new Authenticator().create(
          askingOf(service, options),
          {},
          options.user.id,
        );
        await tab.post(`${I}/passkeys`, { spec: { credential } }).is(201);
      },
    },
    {
      act: 'removes a passkey',
      passkey: true,
      dead: ofSession,
      take: async ({ tab, passkey }) => tab.delete(`passkeys/${passkey}`).is(200),
    },
    {
      act: 'changes the address',
      passkey: true,
      dead: holdings,
      take: async ({ tab }) => {
        const email = address();
        await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
        const { code } = await mailTo(service, email, [], (mail) => mail.code !== undefined);
        await tab.post('accounts/~/email', { spec: { code } }).is(200);
      },
    },
    {
      act: 'waits for a recovery',
      passkey: true,
      dead: holdings,
      take: async ({ email }) => {
        const tab = await byMailbox(email);
        const { metadata } = (await tab.post('accounts/~/recovery', { spec: {} }).is(201)).body;
        clock.advance(49 * hour);
        const replica = await service.replica();
        await until(
          async () =>
            (await replica.store.reader(Recovery).get(metadata.name))!.status.phase === 'Completed',
        );
        await replica.stop();
      },
    },
    {
      act: 'has an operator sign the account out',
      passkey: false,
      dead: ofSession,
      take: async ({ account }) => {
        const { tab } = await signInByPasskey(service, operator);
        await tab.delete(`sessions?fieldSelector=status.account%3D${account}`).is(200);
      },
    },
    {
      act: 'has an operator remove the passkey',
      passkey: true,
      dead: ofSession,
      take: async ({ passkey }) => {
        const { tab } = await signInByPasskey(service, operator);
        await tab.delete(`passkeys/${passkey}`).is(200);
      },
    },
    {
      act: 'has an operator disable and enable the account',
      passkey: false,
      dead: holdings,
      take: async ({ account }) => {
        const { tab } = await signInByPasskey(service, operator);
        await tab.post(`accounts/${account}/disable`, { spec: {} }).is(200);
        await tab.post(`accounts/${account}/enable`, { spec: {} }).is(200);
      },
    },
  ];

  test.each(acts)('a person $act: what a thief held is dead', async ({ passkey, dead, take }) => {
    const email = address();
    const person = passkey ? await withPasskey(service, email) : undefined;
    if (!person) await byMailbox(email);
    await empty();
    const works = await hold(email);
    for (const one of [
      'session',
      'access token of the command',
      'access token of an app',
    ] as const) {
      expectFor(one, await works[one]()).toEqual(true);
    }
    clock.advance(2_000);
    const tab = person
      ? (await signInByPasskey(service, person.authenticator)).tab
      : await byMailbox(email);
    await empty();
    const account = (await tab.get('accounts/~').is(200)).body.metadata.name;
    await take({ email, tab, account, ...(person && { passkey: person.name }) });
    for (const one of dead) expectFor(one, await works[one]()).toEqual(false);
  });

  test('signing out here, and ending nothing, leaves what the command holds', async () => {
    const email = address();
    const tab = await byMailbox(email);
    const code = await confirmedDeviceCode(service, tab);
    const { access_token: token } = await redeemDeviceCode(service, code);
    await tab.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
    await tab.delete('sessions/~').is(200);
    await bearer('accounts/~', token).is(200);
  });

  test('who connects the command again afterwards, in the same second too, is connected', async () => {
    const email = address();
    const tab = await byMailbox(email);
    await (await register(service, tab)).answer.is(201);
    const { internal } = (await service.store.reader(Account).list()).find(
      ({ status }) => status.email.address === email,
    )!;
    expect(internal.tokensEnded).toEqual({ command: 1, apps: 0 });
    const code = await confirmedDeviceCode(service, tab);
    const { access_token: token, refresh_token: refresh } = await redeemDeviceCode(service, code);
    await bearer('accounts/~', token).is(200);
    expect((await refreshCommand(service, refresh)).error).toBeUndefined();
  });

  test('the app in the browser that changed the address goes on, with new tokens', async () => {
    const email = address();
    const signed = await signIn(service, email);
    const next = address();
    await signed.tab.post('accounts/~/emailchallenge', { spec: { email: next } }).is(200);
    const { code } = await mailTo(service, next, [], isNoNotice);
    await signed.tab.post('accounts/~/email', { spec: { code } }).is(200);
    expect((await redeem(service, signed)).code).toBe(400);
    const verifier = 'v'.repeat(43);
    const path = authorizationPath('app', 'openid email', verifier);
    const { headers } = await signed.tab.navigate(path).is(303);
    const callback = new URL(headers.location!);
    expect((await redeem(service, { callback, verifier, client: 'app' })).code).toBe(200);
  });
});
