import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { settles } from '../../support/patience.js';
import { passkeyLogin, withPasskey } from '../../support/people/passkeys.js';
import { begin, mailTo, proceed, redeem, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const prefix = 'id.vestibule.org/sign-in-';

/** A service with an audit log, behind a proxy that says where requests come from. */
class Watched {
  readonly service: TestService;
  readonly #file: string;
  private constructor(service: TestService, file: string) {
    this.service = service;
    this.#file = file;
  }

  static async start(store?: 'embedded' | 'etcd', factor = 1000): Promise<Watched> {
    const file = join(temporary(), 'audit.log');
    const service = await startTest({
      ...(store && { store }),
      flags: [
        '--limit-factor',
        String(factor),
        '--trusted-proxies',
        '127.0.0.0/8',
        '--audit-log-path',
        file,
      ],
    });
    await createClient(service, 'app');
    return new Watched(service, file);
  }

  /** A browser in a network. */
  from(network: string): Tab {
    return Object.assign(this.service.tab(), { headers: { 'x-forwarded-for': network } });
  }

  /**
   * The audit events of sign-ins, once there are so many: their facts, their network and how they
   * were answered.
   */
  async audited(count: number): Promise<Record<string, string>[]> {
    const read = () =>
      readFileSync(this.#file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const events = await settles(
      async () => read().filter(({ annotations = {} }) => annotations[`${prefix}method`]),
      (all) => all.length >= count,
    );
    return events.map(({ annotations, sourceIPs }) => ({
      ...Object.fromEntries(
        Object.entries(annotations as Record<string, string>)
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, value]) => [name.slice(prefix.length), value]),
      ),
      network: sourceIPs[0],
    }));
  }

  /** The same events as the log has them. */
  logged(): Record<string, string>[] {
    const entries = this.service.logs
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === 'sign-in event');
    return entries.map(
      ({ time: _time, level: _level, message: _message, auditID: _auditID, ...facts }) => facts,
    );
  }

  text(): string {
    return readFileSync(this.#file, 'utf8') + this.service.logs.join('');
  }
}

describe('the audit log and the log', () => {
  let watched: Watched;
  let other: Watched;
  beforeAll(async () => {
    watched = await Watched.start();
    other = await Watched.start();
  });

  /** Guesses a code for an address, from a network. */
  async function guess(at: Watched, address: string, network: string): Promise<void> {
    const { tab, I } = await begin(at.service, { tab: at.from(network) });
    await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code, name } = await mailTo(at.service, address);
    await at.service.tab().delete(`mockmessages/${name}`);
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(code) } })
      .fails(422, 'Invalid');
    await at.service.tab().delete('mockmessages').is(200);
  }

  test('show brute force on one address from many networks by one field', async () => {
    const networks = ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8:0:1::/64'];
    for (const network of networks) {
      await guess(
        watched,
        network === '192.0.2.1' ? 'Ada@Example.test' : 'ada@example.test',
        network.replace('::/64', '::5'),
      );
    }
    await guess(watched, 'grace@example.test', '192.0.2.1');
    await guess(other, 'ada@example.test', '192.0.2.1');
    const tries = (await watched.audited(10)).filter(({ method }) => method === 'EmailCode');
    expect(tries).toHaveLength(5);
    const [{ addressHash }] = tries as [Record<string, string>];
    expect(addressHash).toMatch(/^address:[0-9a-f]{16}$/);
    const onAda = tries.filter((attempt) => attempt.addressHash === addressHash);
    expect(onAda.map(({ network }) => network)).toEqual([
      '192.0.2.1',
      '198.51.100.7',
      '203.0.113.9',
      '2001:db8:0:1::/64',
    ]);
    for (const one of onAda) {
      expect(one).toEqual({
        addressHash,
        client: 'app',
        method: 'EmailCode',
        outcome: 'Wrong',
        reason: 'Invalid',
        network: one.network,
      });
    }
    expect(watched.logged()).toEqual(await watched.audited(10));
    const [elsewhere] = await other.audited(2);
    expect(elsewhere!.addressHash).not.toBe(addressHash);
    expect(addressHash).not.toContain(
      createHash('sha256').update('ada@example.test').digest('hex').slice(0, 16),
    );
    expect(watched.text().toLowerCase()).not.toMatch(/ada@|grace@/);
  });

  test('name a sign-in, its tokens and their refresh, and what was refused', async () => {
    const { service } = watched;
    const before = (await watched.audited(10)).length;
    const begun = await begin(service, {
      tab: watched.from('192.0.2.44'),
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    await begun.tab
      .post(`${begun.I}/emailchallenge`, { spec: { email: 'ada@example.test' } })
      .is(200);
    const { code } = await mailTo(service, 'ada@example.test');
    const { body } = await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    const callback = await proceed(begun.tab, body.status.returnTo);
    const account = (await begun.tab.get('accounts/~').is(200)).body.metadata.name;
    const tokens = (await redeem(service, { ...begun, callback })).body;
    await redeem(service, { ...begun, callback });
    const refresh = (token: string) =>
      service.tab().send('POST', '/oauth2/token', {
        plain: true,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: 'app',
          refresh_token: token,
        }).toString(),
      });
    await refresh(tokens.refresh_token).is(400);
    await refresh('nobody-ever-got-this-one\u2028').is(400);
    const passkey = await begin(service, { tab: watched.from('192.0.2.45') });
    await passkey.tab
      .post(`${passkey.I}/login`, {
        spec: {
          method: 'Passkey',
          credential: {
            id: 'AAAA',
            rawId: 'AAAA',
            type: 'public-key',
            response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
            clientExtensionResults: {},
          },
        },
      })
      .fails(422, 'Invalid');
    const events = (await watched.audited(before + 7)).slice(before);
    const addressHash = (await watched.audited(10))[0]!.addressHash;
    expect(events).toEqual([
      {
        addressHash,
        client: 'app',
        method: 'EmailChallenge',
        outcome: 'Sent',
        network: '192.0.2.44',
      },
      {
        addressHash,
        account,
        client: 'app',
        method: 'EmailCode',
        outcome: 'SignedIn',
        network: '192.0.2.44',
      },
      {
        account,
        client: 'app',
        method: 'authorization_code',
        outcome: 'Issued',
        network: '127.0.0.1',
      },
      {
        account,
        client: 'app',
        method: 'authorization_code',
        outcome: 'Reused',
        reason: 'invalid_grant',
        network: '127.0.0.1',
      },
      {
        client: 'app',
        method: 'refresh_token',
        outcome: 'Refused',
        reason: 'invalid_grant',
        network: '127.0.0.1',
      },
      {
        client: 'app',
        method: 'refresh_token',
        outcome: 'Refused',
        reason: 'invalid_grant',
        network: '127.0.0.1',
      },
      {
        client: 'app',
        method: 'Passkey',
        outcome: 'Wrong',
        reason: 'Invalid',
        network: '192.0.2.45',
      },
    ]);
    for (const secret of [
      code,
      tokens.access_token,
      tokens.refresh_token,
      callback.searchParams.get('code')!,
      'nobody-ever-got-this-one',
      '\u2028',
    ]) {
      expect(watched.text()).not.toContain(secret);
    }
  });

  test('name the address of whose passkey was not accepted', async () => {
    const { service } = watched;
    const { authenticator } = await withPasskey(service, 'curie@example.test');
    const { addressHash } = (await watched.audited(1)).findLast(
      ({ outcome }) => outcome === 'SignedIn',
    )!;
    expect(addressHash).toMatch(/^address:/);
    const { answer } = await passkeyLogin(service, authenticator, {
      tab: watched.from('192.0.2.46'),
      lies: { signature: (bytes) => Buffer.from(bytes).fill(1, bytes.length - 1) },
    });
    await answer.fails(422, 'Invalid');
    const ofNetwork = async () =>
      (await watched.audited(1)).filter(({ network }) => network === '192.0.2.46');
    expect(await settles(ofNetwork, (all) => all.length > 0)).toEqual([
      {
        addressHash,
        client: 'app',
        method: 'Passkey',
        outcome: 'Wrong',
        reason: 'Invalid',
        network: '192.0.2.46',
      },
    ]);
  });
});

const forms = {
  accept: 'text/html',
  'content-type': 'application/x-www-form-urlencoded',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'same-origin',
};
const inputs = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  );

describe.each(stores)('the audit log and the log, over %s,', (store) => {
  let watched: Watched;
  let service: TestService;
  beforeAll(async () => {
    watched = await Watched.start(store);
    ({ service } = watched);
  });

  /**
   * The events of a device's code or of tokens from these networks, once there are `count`; the log
   * says the same.
   */
  async function eventsFrom(networks: string[], count: number): Promise<Record<string, string>[]> {
    const isWanted = ({ network, method }: Record<string, string>): boolean =>
      networks.includes(network!) && !method!.startsWith('Email');
    const read = async () => (await watched.audited(0)).filter(isWanted);
    const events = await settles(read, (all) => all.length >= count);
    expect(watched.logged().filter(isWanted)).toEqual(events);
    return events;
  }

  /** The service as a program in a network reaches it. */
  const at = (network: string) => ({ tab: () => watched.from(network) });

  const device = async (): Promise<{ user_code: string; device_code: string }> =>
    (
      await service
        .tab()
        .send('POST', '/oauth2/device/auth', {
          plain: true,
          headers: { 'content-type': forms['content-type'] },
          body: new URLSearchParams({ client_id: 'vestibule', scope: 'openid api' }).toString(),
        })
        .is(200)
    ).body;

  /** Types a device's code in a browser; the page that follows. */
  async function type(tab: Tab, userCode: string): Promise<Record<string, string>> {
    const form = inputs((await tab.navigate('/oauth2/device').is(200)).bytes.toString());
    return inputs((await post(tab, { ...form, user_code: userCode }).is(200)).bytes.toString());
  }
  const post = (tab: Tab, fields: Record<string, string>) =>
    tab.send('POST', '/oauth2/device', {
      body: new URLSearchParams(fields).toString(),
      headers: forms,
    });

  test('name each try of the code that a device shows, never the code', async () => {
    const network = '192.0.2.61';
    const { tab } = await signIn(service, 'ada@example.test', { tab: watched.from(network) });
    const account = (await tab.get('accounts/~').is(200)).body.metadata.name;
    const stranger = watched.from('203.0.113.61');
    await type(stranger, 'BBBB-BBBB');
    const declined = await device();
    const { confirm: _, ...fields } = await type(tab, declined.user_code);
    await post(tab, { ...fields, abort: 'yes' }).is(200);
    await type(tab, declined.user_code);
    const connected = await device();
    const led = await post(tab, await type(tab, connected.user_code)).is(303);
    const agreed = await tab
      .post(`${led.headers.location!}/consent`, { spec: { scopes: ['openid', 'api'] } })
      .is(200);
    await tab.navigate(agreed.body.status.returnTo).is(200);
    const of = { account, client: 'vestibule', method: 'UserCode', network };
    expect(await eventsFrom([network, '203.0.113.61'], 7)).toEqual([
      { method: 'UserCode', outcome: 'Wrong', network: '203.0.113.61' },
      { ...of, outcome: 'Found' },
      { ...of, outcome: 'Denied' },
      { ...of, outcome: 'Expired' },
      { ...of, outcome: 'Found' },
      { ...of, outcome: 'Confirmed' },
      { ...of, outcome: 'Connected' },
    ]);
    for (const { user_code, device_code } of [declined, connected]) {
      for (const secret of [user_code, user_code.replace('-', ''), device_code]) {
        expect(watched.text()).not.toContain(secret);
      }
    }
    expect(watched.text()).not.toMatch(/BBBB-?BBBB/);
  });

  test('say of a device that was refused at the consent that it was denied', async () => {
    const { tab } = await signIn(service, 'grace@example.test', {
      tab: watched.from('192.0.2.62'),
    });
    const asked = await device();
    const led = await post(tab, await type(tab, asked.user_code)).is(303);
    await tab.delete(led.headers.location!).is(200);
    const aborted = await tab.get(led.headers.location!).is(200);
    await tab.navigate(aborted.body.status.returnTo).is(200);
    expect(
      (await eventsFrom(['192.0.2.62'], 3)).map(({ outcome, client }) => [outcome, client]),
    ).toEqual([
      ['Found', 'vestibule'],
      ['Confirmed', 'vestibule'],
      ['Denied', 'vestibule'],
    ]);
  });

  test('name account and Client where a code or a refresh token comes back after its use', async () => {
    const begun = await signIn(service, 'lin@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const account = (await begun.tab.get('accounts/~').is(200)).body.metadata.name;
    const program = at('192.0.2.63');
    const refresh = (token: string) =>
      program.tab().send('POST', '/oauth2/token', {
        plain: true,
        headers: { 'content-type': forms['content-type'] },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: 'app',
          refresh_token: token,
        }).toString(),
      });
    const { body: first } = await redeem(program, begun);
    const { body: second } = await refresh(first.refresh_token).is(200);
    clock.own();
    clock.advance(31_000);
    await refresh(first.refresh_token).is(400);
    clock.release();
    await refresh(second.refresh_token).is(400);
    const replayed = await signIn(service, 'nan@example.test');
    const other = (await replayed.tab.get('accounts/~').is(200)).body.metadata.name;
    for (const code of [200, 400]) expect((await redeem(program, replayed)).code).toBe(code);
    const of = { account, client: 'app', network: '192.0.2.63' };
    const gone = {
      client: 'app',
      network: '192.0.2.63',
      outcome: 'Refused',
      reason: 'invalid_grant',
    };
    expect(await eventsFrom(['192.0.2.63'], 6)).toEqual([
      { ...of, method: 'authorization_code', outcome: 'Issued' },
      { ...of, method: 'refresh_token', outcome: 'Issued' },
      { ...of, method: 'refresh_token', outcome: 'Reused', reason: 'invalid_grant' },
      { ...gone, method: 'refresh_token' },
      { ...of, account: other, method: 'authorization_code', outcome: 'Issued' },
      {
        ...of,
        account: other,
        method: 'authorization_code',
        outcome: 'Reused',
        reason: 'invalid_grant',
      },
    ]);
    for (const secret of [
      first.refresh_token,
      second.refresh_token,
      begun.callback.searchParams.get('code')!,
    ]) {
      expect(watched.text()).not.toContain(secret);
    }
  });

  test('name them where the same code comes twice at once', async () => {
    const begun = await signIn(service, 'mae@example.test');
    const account = (await begun.tab.get('accounts/~').is(200)).body.metadata.name;
    const program = at('192.0.2.64');
    await Promise.all([redeem(program, begun), redeem(program, begun)]);
    const of = { account, client: 'app', method: 'authorization_code', network: '192.0.2.64' };
    const events = await eventsFrom(['192.0.2.64'], 2);
    expect(events.sort((a, b) => a.outcome!.localeCompare(b.outcome!))).toEqual([
      { ...of, outcome: 'Issued' },
      { ...of, outcome: 'Reused', reason: 'invalid_grant' },
    ]);
  });
});

test('a code of a device beyond the limit is a try, a form without one is not', async () => {
  const watched = await Watched.start('embedded', 1);
  const tab = watched.from('192.0.2.71');
  const page = (html: { bytes: Buffer }): Record<string, string> => inputs(html.bytes.toString());
  const post = (fields: Record<string, string>) =>
    tab.send('POST', '/oauth2/device', {
      body: new URLSearchParams(fields).toString(),
      headers: forms,
    });
  let fields = page(await tab.navigate('/oauth2/device').is(200));
  await post({ user_code: 'BBBB-BBBB' }).is(400);
  fields = page(await tab.navigate('/oauth2/device').is(200));
  fields = page(await post({ ...fields, user_code: '' }));
  for (let i = 0; i < 5; i += 1) {
    fields = page(await post({ ...fields, user_code: 'BBBB-BBBB' }).is(200));
  }
  await post({ ...fields, user_code: 'BBBB-BBBB' }).is(429);
  const of = { method: 'UserCode', network: '192.0.2.71' };
  expect(await watched.audited(6)).toEqual([
    ...Array.from({ length: 5 }, () => ({ ...of, outcome: 'Wrong' })),
    { ...of, outcome: 'Limited', reason: 'slow_down' },
  ]);
  expect(watched.logged()).toEqual(await watched.audited(6));
});
