import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { formerVersion, group } from '../../kinds/api-version.js';
import { ClaimsProvider } from '../../kinds/apps/claims/claims-provider.js';
import { prefixRange } from '../../storage/storage.js';
import { clock } from '../support/clock.js';
import { settles } from '../support/patience.js';
import { type Begun, begin, mailTo, redeem, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { Stopwatch } from '../support/stopwatch.js';
import { stores } from '../support/stores.js';
import { until } from './support/fixture.js';
import { lies, Supplier, says } from './support/supplier.js';

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const scopes = (...names: string[]) => [
  { name: 'openid', required: true },
  ...names.map((name) => ({ name, required: false })),
  { name: 'offline_access', required: false },
];
const secret = 'platinum-of-a-very-secret-kind';

let supplier: Supplier;
beforeEach(async () => {
  supplier = await Supplier.open();
});
afterEach(async () => {
  await supplier.close();
});
afterAll(stopAll);

interface Asked extends Begun {
  path: string;
  consent: any[];
  took: number;
  /** The same without what the test waited for a processor. */
  needed: number;
}

/** A sign-in up to its consent. */
async function toConsent(
  service: TestService,
  scope: string,
  address = 'ada@example.test',
  client = 'app',
): Promise<Asked> {
  const begun = await begin(service, { client, scope, parameters: { prompt: 'consent' } });
  await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { code } = await mailTo(service, address);
  await service.tab().delete('mockmessages').is(200);
  const { body } = await begun.tab
    .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
    .is(200);
  const path = (await begun.tab.navigate(body.status.returnTo).is(303)).headers.location!;
  const from = performance.now();
  const stopwatch = new Stopwatch();
  const shown = await begun.tab.get(path).is(200);
  return {
    ...begun,
    path,
    consent: shown.body.status.consent.scopes,
    took: performance.now() - from,
    needed: stopwatch.milliseconds,
  };
}

/** Agrees to it and redeems the code. */
async function toTokens(
  service: TestService,
  asked: Asked,
  agree = asked.consent.map((scope) => scope.name),
): Promise<{ code: number; body: any; sub: string }> {
  const agreed = await asked.tab.post(`${asked.path}/consent`, { spec: { scopes: agree } }).is(200);
  const back = await asked.tab.navigate(agreed.body.status.returnTo).is(303);
  const answer = await redeem(service, { ...asked, callback: new URL(back.headers.location!) });
  return {
    ...answer,
    sub: answer.body.id_token ? String(jose.decodeJwt(answer.body.id_token).sub) : '',
  };
}

const userinfo = (service: TestService, token: string) =>
  service
    .tab()
    .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });
const reviewsOf = (tab: Tab, count: number): Promise<any[]> =>
  until(async () => {
    const { items } = (await tab.get('claimsreviews').is(200)).body;
    return (
      items.length >= count &&
      items.sort(
        (a: any, b: any) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
      )
    );
  }, `${count} reviews`);

describe.each(stores)('claims that another service supplies, over %s', (store) => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    other = await service.replica();
    await createClient(service, 'app', { scopes: scopes('card') });
  });

  test('are asked for with a token, shown, agreed to, released and noted', async () => {
    supplier.answer = says({ tier: secret, points: 7, elite: true, lounges: ['ZRH', 'LHR'] });
    await supplier.declare(
      service,
      'card',
      { tier: 'string', points: 'number', elite: 'boolean', lounges: 'strings' },
      { sensitive: true },
    );
    const asked = await toConsent(service, 'openid card offline_access');
    expect(asked.consent[1]).toEqual({
      name: 'card',
      title: 'Your card',
      description: 'What card is for.',
      sensitive: true,
      required: false,
      granted: false,
      allowed: true,
      provider: { name: 'card', displayName: 'The card' },
      preview: [
        { claim: 'tier', title: 'Title of tier', value: secret },
        { claim: 'points', title: 'Title of points', value: 7 },
        { claim: 'elite', title: 'Title of elite', value: true },
        { claim: 'lounges', title: 'Title of lounges', value: ['ZRH', 'LHR'] },
      ],
    });
    const account = (await asked.tab.get('accounts/~').is(200)).body.metadata.name;
    const [question] = supplier.questions;
    // Services compare the version of reviews: it stays as long as it is served.
    expect(question!.body).toEqual({
      apiVersion: `${group}/${formerVersion}`,
      kind: 'ClaimsReview',
      spec: { account, client: 'app', provider: 'card', scopes: ['card'], purpose: 'Preview' },
    });
    expect(Object.keys(question!.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
    expect(JSON.stringify(question)).not.toMatch(/ada@|127\.0\.0\.1|cookie/);
    const keys = jose.createLocalJWKSet(
      (await service.tab().get('/oauth2/jwks', { plain: true }).is(200)).body,
    );
    const { payload, protectedHeader } = await jose.jwtVerify(
      question!.headers.authorization!.slice('Bearer '.length),
      keys,
      { issuer: service.baseURL, audience: supplier.url, subject: account },
    );
    expect([payload.exp! - payload.iat!, protectedHeader.alg, protectedHeader.typ]).toEqual([
      60,
      'ES256',
      'claims-review+jwt',
    ]);
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'sub']);

    const tokens = await toTokens(service, asked);
    expect(supplier.questions).toHaveLength(1);
    const claims = { sub: account, tier: secret, points: 7, elite: true, lounges: ['ZRH', 'LHR'] };
    expect((await userinfo(service, tokens.body.access_token).is(200)).body).toEqual(claims);
    expect((await userinfo(service, tokens.body.access_token).is(200)).body).toEqual(claims);
    expect(supplier.questions.map(({ body }) => body.spec.purpose)).toEqual(['Preview', 'Release']);
    expect((await userinfo(other, tokens.body.access_token).is(200)).body).toEqual(claims);
    expect(supplier.questions).toHaveLength(3);

    const reviews = await reviewsOf(asked.tab, 3);
    expect(reviews[0]).toMatchObject({
      spec: { account, client: 'app', provider: 'card', scopes: ['card'], purpose: 'Preview' },
      status: { outcome: 'Answered', claims: ['tier', 'points', 'elite', 'lounges'] },
      metadata: { ownerReferences: [{ kind: 'Account', name: account }] },
    });
    const { body: grant } = await asked.tab.get(`grants/${account}-app`).is(200);
    const times = { firstTimestamp: expect.any(String), lastTimestamp: expect.any(String) };
    expect(grant.status.disclosures).toEqual([
      {
        scope: 'openid',
        claims: ['sub', 'acr', 'amr', 'auth_time'],
        provider: 'vestibule',
        ...times,
      },
      {
        scope: 'card',
        claims: ['tier', 'points', 'elite', 'lounges'],
        provider: 'card',
        ...times,
      },
    ]);

    const grace = (await signIn(service, 'grace@example.test', { scope: 'openid' })).tab;
    await grace.get(`claimsreviews/${reviews[0].metadata.name}`).fails(404, 'NotFound');
    expect((await grace.get('claimsreviews').is(200)).body.items).toEqual([]);
    await grace.delete(`claimsreviews/${reviews[0].metadata.name}`).fails(405, 'MethodNotAllowed');

    const held = (
      await Promise.all(
        ['objects/', 'oidc/', 'outbox/', 'unique/', 'limits/', 'meta/'].map((prefix) =>
          service.storage.list(prefixRange(prefix)),
        ),
      )
    ).flatMap(({ entries }) => entries);
    expect(
      held.filter(({ key, value }) => `${key}${value.toString('latin1')}`.includes(secret)),
    ).toEqual([]);
    expect(held.length).toBeGreaterThan(20);
    for (const { logs } of [service, other]) expect(logs.join('')).not.toContain(secret);
  });

  test('go no further than what was shown, on either replica', async () => {
    const { body } = await (await signIn(service, 'op@example.test', { scope: 'openid' })).tab
      .patch('claimsproviders/card', { spec: { reviewURI: supplier.url } })
      .is(200);
    expect(body.metadata.generation).toBe(2);
    supplier.answer = says({ tier: 'gold' });
    const asked = await toConsent(service, 'openid card', 'joan@example.test');
    supplier.answer = says({ tier: 'gold', points: 9 });
    const { body: tokens, sub } = await toTokens(service, asked);
    expect((await userinfo(other, tokens.access_token).is(200)).body).toEqual({
      sub,
      tier: 'gold',
    });
    const again = await toConsent(other, 'openid card', 'joan@example.test');
    expect(again.consent[1]).toMatchObject({
      granted: true,
      preview: [{ claim: 'tier' }, { claim: 'points' }],
    });
    const { body: more } = await toTokens(other, again);
    expect((await userinfo(service, more.access_token).is(200)).body).toEqual({
      sub,
      tier: 'gold',
      points: 9,
    });
  });
});

describe('a supplier that', () => {
  let service: TestService;
  let op: Tab;
  beforeAll(async () => {
    service = await startTest({ flags });
    await createClient(service, 'app', { scopes: scopes('card', 'miles') });
    op = (await signIn(service, 'op@example.test', { scope: 'openid' })).tab;
  });
  afterEach(async () => {
    for (const name of ['card', 'miles']) await op.delete(`claimsproviders/${name}`);
  });
  let before = 0;
  beforeEach(async () => {
    before = (await op.get('claimsreviews').is(200)).body.items.length;
  });
  /** The first review since the test began. */
  const first = async (): Promise<any> => (await reviewsOf(op, before + 1))[before];

  test('lies about who it is, about anything undeclared and about types is not believed', async () => {
    supplier.answer = lies({
      sub: 'root',
      iss: 'https://evil.test',
      aud: 'x',
      exp: 1,
      email: 'root@example.test',
      email_verified: true,
      groups: ['operators'],
      points: '7',
      tier: 7,
      elite: 'true',
      lounges: ['a', 1],
      undeclared: secret,
      __proto__: { polluted: true },
    });
    await supplier.declare(service, 'card', {
      tier: 'string',
      points: 'number',
      elite: 'boolean',
      lounges: 'strings',
    } as never);
    const asked = await toConsent(service, 'openid card');
    expect(asked.consent[1]).toMatchObject({ preview: [] });
    for (const field of ['previewUnavailable', 'claims']) {
      expect(asked.consent[1]).not.toHaveProperty(field);
    }
    const { body, sub } = await toTokens(service, asked);
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({ sub });
    expect((await first()).status).toMatchObject({ outcome: 'Answered', claims: [] });
  });

  test('hides words of its own in what JSON allows is not believed either', async () => {
    const text = (spec: unknown): string => `{"spec":${JSON.stringify(spec)},"status":{"claims":{
      "toString":"${secret}","sub":"root","iss":"https://evil.test",
      "email":"root@example.test","email_verified":true,"groups":["operators"],"acr":"phr","sid":"x","nonce":"x","at_hash":"x","Tier":"${secret}","tier ":"${secret}",
      "tier":{"toString":"${secret}"},"nick":"${secret}\\u202e","line":"a\\u0000${secret}","long":"${'y'.repeat(4097)}","points":"1","lounges":[["${secret}"]],"many":[${Array.from({ length: 101 }, () => '"x"').join()}],"error":"${secret}"}},"message":"${secret}"}`;
    supplier.answer = (response, { body }) => {
      response.setHeader('content-type', 'text/html').end(text(body.spec));
    };
    await supplier.declare(service, 'card', {
      tier: 'string',
      nick: 'string',
      line: 'string',
      long: 'string',
      points: 'number',
      lounges: 'strings',
      many: 'strings',
    });
    const asked = await toConsent(service, 'openid card');
    expect(asked.consent[1]).toMatchObject({ preview: [] });
    const { body, sub } = await toTokens(service, asked);
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({ sub });
    expect((await first()).status).toMatchObject({ outcome: 'Answered', claims: [] });
    expect(({} as any).polluted ?? ({} as any).status).toBeUndefined();
    expect(JSON.stringify(asked.consent) + service.logs.join('')).not.toContain(secret);
  });

  const about =
    (change: Record<string, unknown>): Supplier['answer'] =>
    (response, { body }) => {
      response.end(
        JSON.stringify({
          ...body,
          spec: { ...body.spec, ...change },
          status: { claims: { tier: 'x' } },
        }),
      );
    };
  const spelled =
    (claims: string): Supplier['answer'] =>
    (response, { body }) => {
      response.end(
        Buffer.from(
          `{"spec":${JSON.stringify(body.spec)},"status":{"claims":${claims}}}`,
          'latin1',
        ),
      );
    };

  test.each<[string, Supplier['answer'], string]>([
    ['answers for another Client', about({ client: 'other' }), 'Failed'],
    ['answers for another purpose', about({ purpose: 'Other' }), 'Failed'],
    ['answers for more scopes', about({ scopes: ['card', 'email'] }), 'Failed'],
    ['answers for another supplier', about({ provider: 'other' }), 'Failed'],
    [
      'answers without saying about what',
      (response) => {
        response.end('{"status":{"claims":{"tier":"x"}}}');
      },
      'Failed',
    ],
    ['answers a key twice', spelled('{"tier":"x","tier":"y"}'), 'Failed'],
    ['answers what is not UTF-8', spelled('{"tier":"\xff"}'), 'Failed'],
    ['answers half of a character', spelled('{"tier":"\\ud800"}'), 'Failed'],
    [
      'answers a number that is not safe',
      spelled('{"tier":"x","points":9007199254740993}'),
      'Failed',
    ],
    ['answers a number without end', spelled('{"tier":"x","points":1e999}'), 'Failed'],
    ['answers a key that poisons', spelled('{"tier":"x","__proto__":{"tier":"y"}}'), 'Failed'],
    [
      'answers what is deeper than it is long',
      (response) => {
        response.end('['.repeat(60_000));
      },
      'Failed',
    ],
    [
      'answers nothing',
      (response) => {
        response.end();
      },
      'Failed',
    ],
    [
      'answers null',
      (response) => {
        response.end('null');
      },
      'Failed',
    ],
    [
      'answers claims that are null',
      (response) => {
        response.end('{"status":{"claims":null}}');
      },
      'Failed',
    ],
    [
      'answers compressed',
      (response, { body }) => {
        response
          .setHeader('content-encoding', 'gzip')
          .end(gzipSync(JSON.stringify({ ...body, status: { claims: { tier: 'x' } } })));
      },
      'Failed',
    ],
    [
      'answers under so many headers',
      (response) => {
        response
          .writeHead(200, { 'x-long': 'y'.repeat(64 << 10) })
          .end('{"status":{"claims":{"tier":"x"}}}');
      },
      'Failed',
    ],
    [
      'wants another protocol',
      (response) => {
        response.socket!.end(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        );
      },
      'Failed',
    ],
    [
      'hints without end',
      (response) => {
        const timer = setInterval(() => response.writeEarlyHints({ link: '<x>' }), 50);
        response.on('close', () => clearInterval(timer));
      },
      'TimedOut',
    ],
    [
      'is not there',
      (response) => {
        response.writeHead(404).end('{"status":{"claims":{"tier":"x"}}}');
      },
      'Failed',
    ],
    [
      'forbids it',
      (response) => {
        response.writeHead(401, { 'www-authenticate': `Basic realm="${secret}"` }).end(secret);
      },
      'Failed',
    ],
    ['hangs', () => {}, 'TimedOut'],
    [
      'sends a byte a second',
      (response) => {
        const timer = setInterval(() => response.write(' '), 1000);
        response.write('{');
        response.on('close', () => clearInterval(timer));
      },
      'TimedOut',
    ],
    [
      'sends a mebibyte',
      (response) => {
        response.end(`{"status":{"claims":{"tier":"${'x'.repeat(1 << 20)}"}}}`);
      },
      'Failed',
    ],
    [
      'fails, and says so at length',
      (response) => {
        response.writeHead(500).end(`{"status":{"claims":{"tier":"x"}},"message":"${secret}"}`);
      },
      'Failed',
    ],
    [
      'answers a page',
      (response) => {
        response.setHeader('content-type', 'text/html').end(`<html>${secret}</html>`);
      },
      'Failed',
    ],
    [
      'answers no review',
      (response) => {
        response.end('{"status":{"claims":["tier"]}}');
      },
      'Failed',
    ],
    [
      'answers about another account',
      (response, { body }) => {
        response.end(
          JSON.stringify({
            ...body,
            spec: { ...body.spec, account: 'x' },
            status: { claims: { tier: 'x' } },
          }),
        );
      },
      'Failed',
    ],
    [
      'hangs up',
      (response) => {
        response.destroy();
      },
      'Failed',
    ],
  ])('%s delays no one', async (_what, answer, outcome) => {
    supplier.answer = answer;
    await supplier.declare(service, 'card', { tier: 'string' }, { timeoutMilliseconds: 2500 });
    const asked = await toConsent(service, 'openid card');
    expect(asked.needed).toBeLessThan(2_900);
    expect(asked.consent[1]).toMatchObject({
      name: 'card',
      allowed: true,
      preview: [],
      previewUnavailable: true,
      claims: [{ claim: 'tier', title: 'Title of tier' }],
    });
    expect(JSON.stringify(asked.consent)).not.toContain(secret);
    const { body, sub } = await toTokens(service, asked);
    expect((await first()).status).toMatchObject({ outcome, claims: [] });
    supplier.answer = says({ tier: 'gold' });
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({
      sub,
      tier: 'gold',
    });
    expect(service.logs.join('')).not.toContain(secret);
  });

  test('redirects to a private address is not followed there', async () => {
    const inside = await Supplier.open();
    supplier.answer = (response) => {
      response.writeHead(302, { location: inside.url }).end();
    };
    await supplier.declare(service, 'card', { tier: 'string' });
    expect((await toConsent(service, 'openid card')).consent[1]).toMatchObject({
      previewUnavailable: true,
    });
    expect((await first()).status.outcome).toBe('Failed');
    expect(inside.connections).toBe(0);
    await inside.close();
  });

  test('fails five times is left alone by the sixth review, and the others go on', async () => {
    const well = await Supplier.open();
    well.answer = says({ distance: 12 });
    supplier.answer = (response) => {
      response.writeHead(500).end();
    };
    await supplier.declare(service, 'card', { tier: 'string' });
    await well.declare(service, 'miles', { distance: 'number' });
    const availabilityOf = async (name: string): Promise<string> => {
      const { body } = await op.get(`claimsproviders/${name}`).is(200);
      return body.status.conditions
        .map((condition: any) => `${condition.type} ${condition.status}`)
        .join();
    };
    const becomes = (name: string, expected: string): Promise<unknown> =>
      until(async () => (await availabilityOf(name)) === expected, `${name} ${expected}`);
    for (let i = 0; i < 4; i += 1) {
      await toConsent(service, 'openid card miles', `p${i}@example.test`);
    }
    await becomes('miles', 'Available True');
    expect(await availabilityOf('card')).toBe('Available Unknown');
    await toConsent(service, 'openid card miles', 'p4@example.test');
    await becomes('card', 'Available False');
    expect(supplier.connections).toBe(5);
    const sixth = await toConsent(service, 'openid card miles', 'p5@example.test');
    expect(supplier.connections).toBe(5);
    expect(sixth.consent.slice(1, 3)).toMatchObject([
      { name: 'card', previewUnavailable: true },
      { name: 'miles', preview: [{ value: 12 }] },
    ]);
    expect(well.questions).toHaveLength(6);
    expect(
      (await reviewsOf(op, before + 12))
        .slice(before)
        .map(({ spec, status }) => `${spec.provider} ${status.outcome}`)
        .sort(),
    ).toEqual([
      ...Array(5).fill('card Failed'),
      'card Refused',
      ...Array(6).fill('miles Answered'),
    ]);
    await op.patch('claimsproviders/card', { spec: { timeoutMilliseconds: 500 } }).is(200);
    expect(await availabilityOf('card')).toBe('Available Unknown');
    await toConsent(service, 'openid card miles', 'p6@example.test');
    expect(supplier.connections).toBe(6);
    supplier.answer = says({ tier: 'gold' });
    await toConsent(service, 'openid card miles', 'p7@example.test');
    await becomes('card', 'Available True');
    const { tab: person } = await signIn(service, 'p7@example.test', { scope: 'openid' });
    const { body } = await person.get('claimsproviders/card').is(200);
    expect(body.status).toEqual({});
    await well.close();
  });

  test('hangs beside another one that hangs costs no more than one of them', async () => {
    const second = await Supplier.open();
    let [open, most] = [0, 0];
    supplier.answer = second.answer = (response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => {
        open -= 1;
      });
    };
    await supplier.declare(service, 'card', { tier: 'string' }, { timeoutMilliseconds: 1000 });
    await second.declare(service, 'miles', { distance: 'number' }, { timeoutMilliseconds: 1000 });
    const asked = await toConsent(service, 'openid card miles');
    expect(asked.took).toBeGreaterThan(950);
    expect(most).toBe(2);
    await second.close();
  });

  test('must not be left out makes userinfo and the ID token 503 while it is down', async () => {
    await createClient(service, 'strict', { scopes: scopes('card'), idTokenClaims: ['tier'] });
    supplier.answer = says({ tier: 'gold' });
    await supplier.declare(service, 'card', { tier: 'string' }, { failurePolicy: 'Fail' });
    const asked = await toConsent(service, 'openid card', 'ada@example.test', 'strict');
    supplier.answer = (response) => {
      response.writeHead(500).end();
    };
    const agreed = await asked.tab
      .post(`${asked.path}/consent`, { spec: { scopes: ['openid', 'card'] } })
      .is(200);
    const callback = new URL(
      (await asked.tab.navigate(agreed.body.status.returnTo).is(303)).headers.location!,
    );
    expect(await redeem(service, { ...asked, callback })).toMatchObject({
      code: 503,
      body: { error: 'temporarily_unavailable' },
      headers: { 'retry-after': '1' },
    });
    supplier.answer = says({ tier: 'gold' });
    const { body } = await redeem(service, { ...asked, callback });
    expect(jose.decodeJwt(body.id_token)).toMatchObject({ tier: 'gold' });
    await op.patch('claimsproviders/card', { spec: { timeoutMilliseconds: 401 } }).is(200);
    supplier.answer = (response) => {
      response.writeHead(500).end(secret);
    };
    const failed = await userinfo(service, body.access_token).is(503);
    expect(failed.body).toMatchObject({ error: 'temporarily_unavailable' });
    expect(failed.bytes.toString()).not.toContain(secret);
    await op.patch('claimsproviders/card', { spec: { failurePolicy: 'Omit' } }).is(200);
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({
      sub: expect.any(String),
    });
  });

  test('is not wanted any more, or has been succeeded by another one, gives nothing', async () => {
    supplier.answer = says({ tier: 'gold' });
    await supplier.declare(service, 'card', { tier: 'string' });
    const { body, sub } = await toTokens(service, await toConsent(service, 'openid card'));
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({
      sub,
      tier: 'gold',
    });
    const waiting = await toConsent(service, 'openid card');
    await op.delete('claimsproviders/card').is(200);
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({ sub });
    expect(
      (await waiting.tab.get(waiting.path).is(200)).body.status.consent.scopes[1],
    ).toMatchObject({
      name: 'card',
      allowed: false,
      required: false,
      description: 'No claims provider supplies this scope any more.',
    });
    await waiting.tab
      .post(`${waiting.path}/consent`, { spec: { scopes: ['openid', 'card'] } })
      .fails(422, 'Invalid', 'spec.scopes[1]');
    const spec = {
      displayName: 'Another',
      reviewURI: supplier.url,
      scopes: [
        {
          name: 'card',
          title: 'Card',
          description: 'x',
          claims: [{ name: 'tier', title: 'Tier', type: 'string' }],
        },
      ],
    };
    await op.post('claimsproviders', { metadata: { name: 'miles' }, spec }).is(201);
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({ sub });
  });

  test('supplies nothing that was left out', async () => {
    supplier.answer = says({ tier: 'gold' });
    await supplier.declare(service, 'card', { tier: 'string' });
    const { body, sub } = await toTokens(service, await toConsent(service, 'openid card'), [
      'openid',
    ]);
    expect(body.scope).toBe('openid');
    expect((await userinfo(service, body.access_token).is(200)).body).toEqual({ sub });
    expect(supplier.questions.map((question) => question.body.spec.purpose)).not.toContain(
      'Release',
    );
  });
});

test('reviews by a supplier that is down are recorded once a minute', async () => {
  const max = 50;
  const service = await startTest({
    flags: [
      ...flags,
      '--limits-reviews-per-account',
      String(max),
      '--limits-access-token-lifetime',
      '24h',
    ],
  });
  await createClient(service, 'app', { scopes: scopes('card') });
  supplier.answer = (response) => {
    response.writeHead(500).end();
  };
  await supplier.declare(service, 'card', { tier: 'string' });
  const asked = await toConsent(service, 'openid card');
  const { body } = await toTokens(service, asked);
  const times = async (): Promise<number[]> =>
    (await asked.tab.get('claimsreviews').is(200)).body.items.map(({ status }: any) =>
      Date.parse(status.timestamp),
    );
  clock.own();
  try {
    /** Releases the claims a minute later; how many reviews there are once that is recorded. */
    const releasedLater = async (): Promise<number> => {
      clock.advance(61_000);
      const from = Date.now() - 1_000;
      await userinfo(service, body.access_token).is(200);
      return (await settles(times, (all) => all.some((time) => time >= from))).length;
    };
    for (let i = 0; i < 20; i += 1) await userinfo(service, body.access_token).is(200);
    await releasedLater();
    expect(await releasedLater()).toBeLessThanOrEqual(8); // five failures, one refusal, these two
    const counts: number[] = [];
    for (let i = 0; i < max + 5; i += 1) counts.push(await releasedLater());
    expect(Math.max(...counts)).toBe(max);
    expect(counts.at(-1)).toBeLessThan(max);
  } finally {
    clock.release();
  }
});

test('an address that is not open any more is refused at the time of asking', async () => {
  const directory = temporary();
  const before = await startTest({
    directory,
    flags: [...flags, '--allow-private-network', '10.1.0.0/16'],
  });
  await createClient(before, 'app', { scopes: scopes('card') });
  await before.store.change(before.store.systemCall(), (tx) =>
    tx.create(ClaimsProvider, {
      metadata: { name: 'card' },
      spec: {
        displayName: 'Card',
        reviewURI: 'https://10.1.2.3/',
        timeoutMilliseconds: 400,
        failurePolicy: 'Omit',
        scopes: [
          {
            name: 'card',
            title: 'Card',
            description: 'x',
            sensitive: false,
            claims: [{ name: 'tier', title: 'Tier', type: 'string' }],
          },
        ],
      },
    }),
  );
  await before.stop();
  const service = await startTest({ directory, keys: before.keys, flags });
  const asked = await toConsent(service, 'openid card');
  expect(asked.consent[1]).toMatchObject({ previewUnavailable: true });
  expect((await reviewsOf(asked.tab, 1))[0].status.outcome).toBe('Refused');
});
