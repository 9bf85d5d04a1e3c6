import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { begin, mailTo, proceed, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(async () => {
  clock.release();
  await stopAll();
});

describe.each(stores)('an interaction belongs to one browser, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let tab: Tab;
  let I: string;
  beforeEach(async () => {
    ({ tab, I } = await begin(service));
  });

  const routes = (at: string): [string, string, unknown][] => [
    ['GET', at, undefined],
    ['DELETE', at, undefined],
    ['POST', `${at}/emailchallenge`, { spec: { email: 'a@example.test' } }],
    ['POST', `${at}/login`, { spec: { method: 'EmailCode', code: '12345678' } }],
    ['GET', `${at}/account`, undefined],
    ['PATCH', `${at}/account`, { spec: {} }],
    ['POST', `${at}/consent`, { spec: { scopes: [] } }],
  ];
  const ask = (who: Tab, method: string, path: string, body: unknown) =>
    who.send(method, path, {
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        'audit-id': 'same',
        ...(method !== 'GET' && {
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        }),
      },
    });

  test('without its cookie every route is the same 404, byte for byte', async () => {
    const other = await begin(service);
    const stranger = service.tab();
    const forged = service.tab();
    const cookie = tab.cookies.find(({ path }) => path === I)!;
    forged.cookies = [
      {
        ...cookie,
        value: `${cookie.value.slice(0, -1)}${cookie.value.endsWith('_') ? 'a' : '_'}`,
      },
      { ...tab.cookies.find(({ name }) => name === `${cookie.name}.sig`)! },
    ];
    const unsigned = service.tab();
    unsigned.cookies = [cookie];
    const crossed = service.tab();
    crossed.cookies = other.tab.cookies.map((cookie) => ({ ...cookie, path: '/' }));
    const doubled = service.tab();
    doubled.cookies = [...tab.cookies, ...crossed.cookies];
    const unknown = `/api/v1beta1/interactions/${'a'.repeat(32)}`;
    const seen = new Set<string>();
    for (const [who, at] of [
      [stranger, I],
      [forged, I],
      [unsigned, I],
      [crossed, I],
      [doubled, I],
      [tab, unknown],
      [stranger, unknown],
    ] as const) {
      for (const [method, path, body] of routes(at)) {
        const { code, bytes, headers } = await ask(who, method, path, body);
        expectFor([method, path], code).toEqual(404);
        seen.add(
          JSON.stringify([
            bytes.toString().replaceAll(at.split('/').at(-1)!, 'NAME'),
            Object.entries(headers).filter(
              ([name]) => !['date', 'connection', 'content-length', 'keep-alive'].includes(name),
            ),
          ]),
        );
      }
    }
    expect([...seen]).toHaveLength(1);
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
  });

  test('cookies that a sibling subdomain sets begin and finish nothing', async () => {
    const sibling = (cookies: Tab['cookies']): Tab['cookies'] =>
      cookies.filter(({ name }) => name !== 'vestibule-browser');
    const victim = service.tab();
    await begin(service, { tab: victim });
    victim.cookies = [...victim.cookies, ...sibling(tab.cookies)];
    for (const [method, path, body] of routes(I)) {
      expectFor(path, (await ask(victim, method, path, body)).code).toEqual(404);
    }
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'sibling@example.test' } }).is(200);
    const { code } = await mailTo(service, 'sibling@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    victim.cookies = [
      ...victim.cookies.filter(({ path }) => path === '/'),
      ...sibling(tab.cookies),
    ];
    const resumed = await victim.navigate(body.status.returnTo);
    expect([resumed.code, resumed.headers.location]).toEqual([400, undefined]);
    expect(victim.cookie('vestibule-session')).toBeUndefined();
    expect((await proceed(tab, body.status.returnTo)).searchParams.get('code')).toBeTruthy();
  });

  test('two different browser ids count as none', async () => {
    const doubled = service.tab();
    doubled.cookies = [
      ...tab.cookies,
      { name: 'vestibule-browser', value: 'a'.repeat(43), path: '/api' },
    ];
    await doubled.get(I).fails(404, 'NotFound');
    await tab.get(I).is(200);
  });

  test('a victim with a live session who opens the attacker’s page changes nothing', async () => {
    const victim = await signIn(service, 'victim@example.test');
    expect(
      (await victim.tab.navigate(`/interaction/${I.split('/').at(-1)}`).is(200)).headers[
        'content-type'
      ],
    ).toMatch(/html/);
    await victim.tab.get(I).fails(404, 'NotFound');
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
  });

  test('returnTo opened in a second browser is an error page without a redirect', async () => {
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'b6@example.test' } }).is(200);
    const { code } = await mailTo(service, 'b6@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    const answer = await service.tab().navigate(body.status.returnTo);
    expect(answer.code).toBe(400);
    expect(answer.headers.location).toBeUndefined();
    expect((await proceed(tab, body.status.returnTo)).searchParams.get('code')).toBeTruthy();
  });

  test('an action in the wrong phase is 409 and changes nothing; an empty body is 422', async () => {
    const before = (await tab.get(I).is(200)).body.metadata.resourceVersion;
    await tab.post(`${I}/consent`, { spec: { scopes: ['openid'] } }).fails(409, 'Conflict');
    await tab.get(`${I}/account`).fails(409, 'Conflict');
    await tab.patch(`${I}/account`, { spec: { displayName: 'x' } }).fails(409, 'Conflict');
    await tab.post(`${I}/emailchallenge`, {}).fails(422, 'Invalid', 'spec.email');
    await tab.post(`${I}/login`, {}).fails(422, 'Invalid', 'spec.method');
    await tab.post(`${I}/consent`, {}).fails(422, 'Invalid', 'spec.scopes');
    expect((await tab.get(I).is(200)).body.metadata.resourceVersion).toBe(before);
  });

  test('two sign-ins in two tabs end independently', async () => {
    const first = await signIn(service, 'one@example.test');
    const former = service.tab();
    former.cookies = [...first.tab.cookies];
    await former.get('accounts/~').is(200);
    const second = await begin(service, { tab: first.tab, parameters: { prompt: 'login' } });
    await second.tab
      .post(`${second.I}/emailchallenge`, { spec: { email: 'two@example.test' } })
      .is(200);
    const { code } = await mailTo(service, 'two@example.test');
    const { body } = await second.tab
      .post(`${second.I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    const switching = await second.tab.navigate(body.status.returnTo);
    if (switching.code === 200) {
      const form = switching.bytes.toString();
      const action = /action="([^"]+)"/.exec(form)![1]!;
      const fields = new URLSearchParams(
        [...form.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(
          ([, name, value]) => [name!, value!] as [string, string],
        ),
      );
      const out = await second.tab.send('POST', action, {
        body: fields.toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-mode': 'navigate',
        },
      });
      await proceed(
        second.tab,
        new URL(out.headers.location!, service.baseURL).pathname +
          new URL(out.headers.location!, service.baseURL).search,
      );
    }
    expect((await second.tab.get('accounts/~').is(200)).body.status.email.address).toBe(
      'two@example.test',
    );
    await former.get('accounts/~').fails(401, 'Unauthorized');
  });

  test('cancelling is reported once; afterwards 409, after an hour 410, after two 404', async () => {
    const { body } = await tab.delete(I).is(200);
    expect(body.status.phase).toBe('Aborted');
    await tab.delete(I).fails(409, 'Conflict');
    await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } })
      .fails(409, 'Conflict');
    const back = await tab.navigate(body.status.returnTo).is(303);
    expect(new URL(back.headers.location!).searchParams.get('error')).toBe('access_denied');
    expect((await tab.navigate(body.status.returnTo)).code).toBe(400);
    const late = await begin(service);
    clock.own();
    clock.advance(3_600_000 + 2000);
    for (const [method, path, content] of routes(late.I).filter(
      ([, path]) => !path.endsWith('/login'),
    )) {
      expect((await ask(late.tab, method, path, content)).code).toBe(410);
    }
    await late.tab
      .post(`${late.I}/login`, { spec: { method: 'EmailCode', code: '12345678' } })
      .fails(410, 'Expired');
    clock.advance(3_600_000);
    await late.tab.get(late.I).fails(404, 'NotFound');
    clock.release();
  });

  test('nothing from the request becomes a way back', async () => {
    for (const body of [
      { spec: { returnTo: 'https://evil.test' } },
      { spec: { email: 'a@example.test', returnTo: '//evil.test' } },
    ]) {
      await tab.post(`${I}/emailchallenge?returnTo=https://evil.test`, body).fails(422, 'Invalid');
    }
    const { body } = await tab.delete(`${I}?returnTo=https://evil.test`).is(200);
    expect(body.status.returnTo).toMatch(new RegExp(`^${service.baseURL}/oauth2/auth/`));
  });
});

test('a sign-in is named by a hash of what its cookie holds, which stands nowhere else', async () => {
  const service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
  const { tab, I, name } = await begin(service);
  const uid = tab.cookies.find((cookie) => cookie.name === 'vestibule-interaction')!.value;
  const bits = [...createHash('sha256').update(uid).digest().subarray(0, 20)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  expect(name).toBe(
    bits
      .match(/.{5}/g)!
      .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five, 2)])
      .join(''),
  );
  expect(I + JSON.stringify((await tab.get(I).is(200)).body) + service.logs.join('')).not.toContain(
    uid,
  );
});

test('names are uniform, distinct and in no order', async () => {
  const { nameOf } = await import('../../../security/keyring.js');
  const names = Array.from({ length: 10_000 }, (_, i) => nameOf(`uid-${i}`));
  expect(new Set(names).size).toBe(10_000);
  expect(names.every((name) => /^[a-z2-7]{32}$/.test(name))).toBe(true);
  const counts = new Map<string, number>();
  for (const char of names.join('')) counts.set(char, (counts.get(char) ?? 0) + 1);
  const chi = [...counts.values()].reduce((sum, n) => sum + (n - 10_000) ** 2 / 10_000, 0);
  expect(counts.size).toBe(32);
  expect(chi).toBeLessThan(70);
});
