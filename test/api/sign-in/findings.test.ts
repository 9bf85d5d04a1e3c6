import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keys, newKeys } from '../../../security/keyring.js';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import type { Storage } from '../../../storage/storage.js';
import { clock } from '../../support/clock.js';
import { memberOf } from '../../support/people/member.js';
import {
  authorizationPath,
  begin,
  mailTo,
  proceed,
  redeem,
  signIn,
} from '../../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';

afterAll(async () => {
  clock.release();
  await stopAll();
});

describe('the challenge that was judged is the one that signs in', () => {
  test('a login raced by a challenge for another address never signs in as the other', async () => {
    const real = await openEmbedded({ directory: join(temporary(), 'store') });
    let [slow, arrive] = [(): void => {}, (): void => {}];
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let holding = false;
    const delayed = new Proxy(real, {
      get: (target, name: keyof Storage) =>
        name !== 'commit'
          ? memberOf(target, name)
          : async (...args: Parameters<Storage['commit']>) => {
              if (
                holding &&
                args[1].some((write) => 'put' in write && write.put.startsWith('objects/accounts/'))
              ) {
                await new Promise<void>((resolve) => {
                  slow = resolve;
                  arrive();
                });
              }
              return target.commit(...args);
            },
    });
    const service = await startTest({
      storage: delayed as Storage,
      flags: ['--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    const { tab, I } = await begin(service);
    clock.own();
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'attacker@example.test' } }).is(200);
    const { code } = await mailTo(service, 'attacker@example.test');
    clock.advance(61_000);
    holding = true;
    const login = tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } });
    const answered = Promise.resolve(login);
    await arrived;
    holding = false;
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'victim@example.test' } }).is(200);
    slow();
    expect((await answered).code).toBe(410);
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
    clock.release();
  });
});

describe('what is over stays over', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
  });

  test('an interaction that was followed is no credential any more', async () => {
    const { tab, I } = await signIn(service, 'followed@example.test');
    await tab.get(`${I}/account`).fails(409, 'Conflict');
    await tab.patch(`${I}/account`, { spec: { displayName: 'Mallory' } }).fails(409, 'Conflict');
    await tab.delete(I).fails(409, 'Conflict');
    expect((await tab.get('accounts/~').is(200)).body.spec.displayName).toBeUndefined();
  });

  test('signing out clears the cookie; a dry run and a failure clear nothing', async () => {
    const { tab } = await signIn(service, 'cookies@example.test');
    expect(
      (await tab.delete('sessions/~?dryRun=All').is(200)).headers['set-cookie'],
    ).toBeUndefined();
    await tab.get('sessions/~').is(200);
    const { headers, body } = await tab.delete('sessions/~').is(200);
    const cleared = (headers['set-cookie'] ?? []).map((line) => line.split('=')[0]);
    expect(cleared.sort()).toEqual(['vestibule-session', 'vestibule-session.sig']);
    expect(body.metadata.deletionTimestamp).toBeDefined();
  });

  test('consent after a sign-out is 410 and no Grant', async () => {
    const first = await begin(service);
    await first.tab
      .post(`${first.I}/emailchallenge`, { spec: { email: 'late@example.test' } })
      .is(200);
    const { body } = await first.tab
      .post(`${first.I}/login`, {
        spec: { method: 'EmailCode', code: (await mailTo(service, 'late@example.test')).code },
      })
      .is(200);
    const to = (await first.tab.navigate(body.status.returnTo).is(303)).headers.location!;
    await first.tab.delete('sessions/~').is(200);
    await first.tab
      .post(`${to}/consent`, { spec: { scopes: ['openid', 'email'] } })
      .fails(410, 'Expired');
    await expect(proceed(first.tab, body.status.returnTo)).rejects.toThrow();
  });

  test('a cookie of a removed sealing key belongs to no one and is not an error', async () => {
    const file = newKeys();
    const directory = temporary();
    const base = ['--base-url', 'http://localhost:7001', '--limit-factor', '100'];
    const before = await startTest({ keys: new Keys(file), directory, flags: base });
    await createClient(before, 'app');
    const { tab } = await signIn(before, 'sealed@example.test');
    await before.stop();
    const after = await startTest({
      keys: new Keys({ ...file, sealing: newKeys().sealing }),
      directory,
      flags: base,
    });
    const late = after.tab();
    late.cookies = tab.cookies;
    await late.get('accounts/~').fails(401, 'Unauthorized');
    expect((await late.navigate('/oauth2/auth?client_id=app')).code).toBe(400);
  });
});

describe('nothing is taken for something else', () => {
  let service: TestService;
  let operator: Awaited<ReturnType<typeof signIn>>['tab'];
  beforeAll(async () => {
    service = await startTest({ flags: ['--limit-factor', '1', '--operators', 'op@example.test'] });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  test('another spelling of a provider path is 404 and opens no limit', async () => {
    for (const path of [
      '/oauth2/AUTH',
      '/oauth2/Auth',
      '/oauth2/auth/',
      '/oauth2/foo',
      '/oauth2//auth',
      '/oauth2/auth/x/y',
    ]) {
      expect((await service.tab().get(path)).code).toBe(404);
    }
  });

  test('malformed options delete nothing', async () => {
    await createClient(service, 'kept');
    for (const [body, code] of [
      ['{"dryRun":"All"}', 422],
      ['{"preconditions":{"resourceVersion":1}}', 422],
      ['{"preconditions":"x"}', 422],
      ['{"dryrun":["All"]}', 422],
      ['{"kind":"Pod"}', 400],
      ['{"propagationPolicy":"Sideways"}', 422],
      ['{"dryRun":["Some"]}', 422],
    ] as const) {
      expect(
        (
          await operator.delete('clients/kept', {
            body,
            headers: { 'content-type': 'application/json' },
          })
        ).code,
      ).toBe(code);
    }
    await operator
      .delete('clients/kept?propagationPolicy=Sideways')
      .fails(422, 'Invalid', 'propagationPolicy');
    await operator
      .delete('clients/kept', {
        body: '{"preconditions":{"uid":"x"}}',
        headers: { 'content-type': 'application/json' },
      })
      .fails(409, 'Conflict');
    await operator.get('clients/kept').is(200);
    await operator.delete('clients/kept').is(200);
  });

  test('a bad token with a good cookie is 401', async () => {
    for (const authorization of ['Bearer bad', 'Basic eDp5']) {
      await operator
        .get('accounts/~', { plain: true, headers: { authorization } })
        .fails(401, 'Unauthorized');
    }
  });

  test('long selectors are 400 at once, in any shape', async () => {
    for (const query of [
      `labelSelector=${'a,'.repeat(3_000)}a`,
      `labelSelector=a in (${'b,'.repeat(3_000)}b)`,
      `labelSelector=${','.repeat(150)}`,
      `fieldSelector=metadata.name=${'a'.repeat(2_000)}`,
      'fieldSelector=metadata.name=%C3%A4',
    ]) {
      await service
        .tab()
        .get(`mockmessages?${query.replaceAll(' ', '%20')}`)
        .fails(400, 'BadRequest');
    }
  });

  test('a name outside the owner’s range selects nothing', async () => {
    const { tab } = await signIn(service, 'other@example.test');
    const { body } = await tab.get('sessions/~').is(200);
    const own = (await operator.get('accounts/~').is(200)).body.metadata.name;
    expect(
      (
        await operator
          .get(
            `sessions?fieldSelector=status.account%3D${own},metadata.name%3D${body.metadata.name}`,
          )
          .is(200)
      ).body.items,
    ).toEqual([]);
    expect(
      (
        await operator
          .delete(`sessions?fieldSelector=metadata.name%3D${body.metadata.name}`)
          .is(200)
      ).body.items,
    ).toEqual([]);
    await tab.get('sessions/~').is(200);
  });

  test('continue without limit goes on where it was', async () => {
    for (const name of ['p1', 'p2', 'p3']) await createClient(service, name);
    const { body } = await operator.get('clients?limit=2').is(200);
    const rest = await operator
      .get(`clients?continue=${encodeURIComponent(body.metadata.continue)}`)
      .is(200);
    const names = [...body.items, ...rest.body.items].map((one: any) => one.metadata.name);
    expect(names).toEqual([...new Set(names)].sort());
  });

  test('the same spec in another order, or without its defaults, is no change', async () => {
    const spec = { displayName: 'Same', redirectURIs: ['https://a.example.test/'] };
    const { body } = await operator.post('clients', { metadata: { name: 'same' }, spec }).is(201);
    const put = await operator
      .put('clients/same', {
        metadata: { name: 'same', resourceVersion: body.metadata.resourceVersion },
        spec: { redirectURIs: spec.redirectURIs, displayName: 'Same' },
      })
      .is(200);
    expect(put.body.metadata).toMatchObject({
      resourceVersion: body.metadata.resourceVersion,
      generation: 1,
    });
  });

  test('a generated name can be read; reserved and unservable Clients are refused', async () => {
    await operator
      .post('clients', { metadata: { generateName: 'a.-' }, spec: { displayName: 'x' } })
      .fails(422, 'Invalid', 'metadata.generateName');
    const { body } = await operator
      .post('clients', { metadata: { generateName: 'gen-' }, spec: { displayName: 'x' } })
      .is(201);
    await operator.get(`clients/${body.metadata.name}`).is(200);
    await operator
      .post('clients', { metadata: { name: 'vestibule' }, spec: { displayName: 'x' } })
      .fails(409, 'AlreadyExists');
    for (const key of [
      { kty: 'oct', k: 'AAAA' },
      { kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'secret' },
      {},
    ]) {
      await operator
        .post('clients', {
          metadata: { name: 'keyed' },
          spec: { displayName: 'x', jwks: { keys: [key] } },
        })
        .fails(422, 'Invalid', 'spec.jwks.keys[0]');
    }
  });

  test('people set no owners on what is theirs', async () => {
    const { tab } = await signIn(service, 'owner@example.test');
    const { body } = await tab
      .patch('accounts/~', {
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' }] },
      })
      .is(200);
    expect(body.metadata.ownerReferences).toBeUndefined();
  });

  test('sessions and grants point to the Account that owns them', async () => {
    await createClient(service, 'house', { firstParty: true });
    const { tab } = await signIn(service, 'owned@example.test');
    const { metadata } = (await tab.get('accounts/~').is(200)).body;
    await tab.navigate(authorizationPath('house', 'openid', 'v'.repeat(43))).is(303);
    const owners = [
      {
        apiVersion: 'id.vestibule.org/v1beta1',
        kind: 'Account',
        name: metadata.name,
        uid: metadata.uid,
      },
    ];
    expect(metadata.ownerReferences).toBeUndefined();
    expect((await tab.get('sessions/~').is(200)).body.metadata.ownerReferences).toEqual(owners);
    const { items } = (await tab.get('grants').is(200)).body;
    expect(
      items.map((grant: any) => [grant.status.client.name, grant.metadata.ownerReferences]),
    ).toEqual([
      ['app', owners],
      ['house', owners],
    ]);
  });

  test('consent shows the very identifier that a pairwise Client receives', async () => {
    await createClient(service, 'pair', { subjectType: 'pairwise' });
    const { tab } = await signIn(service, 'pair@example.test');
    const begun = await begin(service, { tab, client: 'pair' });
    const { status } = (await tab.get(begun.I).is(200)).body;
    const { preview } = status.consent.scopes.find((scope: any) => scope.name === 'openid');
    const agreed = await tab
      .post(`${begun.I}/consent`, { spec: { scopes: ['openid', 'email'] } })
      .is(200);
    const callback = new URL(
      (await tab.navigate(agreed.body.status.returnTo).is(303)).headers.location!,
    );
    const { body } = await redeem(service, { ...begun, callback });
    const { sub } = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    expect(preview).toEqual([{ claim: 'sub', title: 'Identifier', value: sub }]);
    expect(sub).not.toBe(status.account.name);
  });

  test('a cookie in quotes is another value, to the API and to the provider', async () => {
    const { tab } = await signIn(service, 'quoted@example.test');
    const silent = authorizationPath('app', 'openid email', 'v'.repeat(43), { prompt: 'none' });
    expect((await tab.navigate(silent).is(303)).headers.location).toContain('code=');
    for (const quoted of ['vestibule-session', 'vestibule-session.sig']) {
      const other = service.tab();
      other.cookies = tab.cookies.map((cookie) =>
        cookie.name === quoted ? { ...cookie, value: `"${cookie.value}"` } : cookie,
      );
      await other.get('accounts/~').fails(401, 'Unauthorized');
      expect((await other.navigate(silent).is(303)).headers.location).toContain(
        'error=login_required',
      );
    }
  });

  test('an unknown field is reported with the kind of the body', async () => {
    const { tab, I } = await begin(service);
    const { details, message } = await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'kind@example.test', extra: 1 } })
      .fails(422, 'Invalid', 'spec.extra');
    expect([details!.kind, message!.split('.')[0]]).toEqual(['EmailChallenge', 'EmailChallenge']);
    expect(
      (
        await tab
          .post(`${I}/login`, { spec: { method: 'EmailCode', code: '12345678', extra: 1 } })
          .fails(422, 'Invalid', 'spec.extra')
      ).details!.kind,
    ).toBe('Login');
    expect(
      (
        await tab
          .post(`${I}/login?fieldValidation=Some`, {
            spec: { method: 'EmailCode', code: '12345678' },
          })
          .fails(422, 'Invalid', 'fieldValidation')
      ).details!.kind,
    ).toBe('CreateOptions');
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'kind@example.test' } }).is(200);
    await tab
      .post(`${I}/login`, {
        spec: { method: 'EmailCode', code: (await mailTo(service, 'kind@example.test')).code },
      })
      .is(200);
    expect(
      (
        await tab
          .patch(`${I}/account`, { spec: { admin: true } })
          .fails(422, 'Invalid', 'spec.admin')
      ).details!.kind,
    ).toBe('Account');
    expect(
      (
        await operator
          .delete('clients/app', {
            body: '{"extra":1}',
            headers: { 'content-type': 'application/json' },
          })
          .fails(422, 'Invalid', 'extra')
      ).details!.kind,
    ).toBe('DeleteOptions');
  });

  test('a warning is given once, however often its change lost a race', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        operator
          .send('PATCH', 'clients/app', {
            plain: true,
            body: JSON.stringify({ metadata: { labels: { [`w${i}`]: 'x' } }, spec: { bogus: 1 } }),
            headers: { 'content-type': 'application/merge-patch+json' },
          })
          .is(200),
      ),
    );
    for (const { headers } of answers) {
      expect(headers.warning).toBe('299 - "unknown field \\"spec.bogus\\""');
    }
  });

  test('a program’s PATCH says what it is; HEAD opens no watch', async () => {
    await operator
      .send('PATCH', 'accounts/~', { plain: true, body: '{}' })
      .fails(415, 'UnsupportedMediaType');
    expect((await operator.send('HEAD', 'clients?watch=true')).code).toBe(400);
  });
});

test('a filtered page is read many rows at a time, and misses and repeats none', async () => {
  const real = await openEmbedded({ directory: join(temporary(), 'store') });
  let reads = 0;
  const counted = new Proxy(real, {
    get: (target, name: keyof Storage) => {
      const method = memberOf(target, name);
      return name === 'list'
        ? (...args: unknown[]) => {
            reads += 1;
            return method(...args);
          }
        : method;
    },
  });
  const service = await startTest({
    storage: counted as Storage,
    flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const wanted = new Set<string>();
  for (let i = 0; i < 260; i += 1) {
    const name = `c${String(i).padStart(3, '0')}`;
    if (i % 40 === 39) wanted.add(name);
    await createClient(service, name);
  }
  for (const name of wanted) {
    await tab.patch(`clients/${name}`, { metadata: { labels: { of: 'interest' } } }).is(200);
  }
  reads = 0;
  const found: string[] = [];
  let [token, pages]: [string | undefined, number] = [undefined, 0];
  do {
    const { body }: { body: any } = await tab
      .get(
        `clients?limit=2&labelSelector=of%3Dinterest${token ? `&continue=${encodeURIComponent(token)}` : ''}`,
      )
      .is(200);
    expect(body.metadata.remainingItemCount).toBeUndefined();
    found.push(...body.items.map((item: any) => item.metadata.name));
    [token, pages] = [body.metadata.continue, pages + 1];
  } while (token);
  expect(found).toEqual([...wanted]);
  expect(reads).toBeLessThanOrEqual(2 * pages + 2);
});
