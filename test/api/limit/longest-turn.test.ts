import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { turnOf } from '../../support/longest-turn.js';
import { cbor } from '../../support/people/authenticator.js';
import { authorizationPath, begin, signIn } from '../../support/people/signin.js';
import { type Answer, exchange, type Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

afterAll(stopAll);

/** The most that one request may occupy the thread at a time, in milliseconds. */
const limitMs = 20;

const list = (length: number, item: (i: number) => string, separator = ','): string =>
  Array.from({ length }, (_, i) => item(i)).join(separator);

/** Texts that a YAML parser needs long for; each is within the bounds on bodies, or just above. */
const yamls: Readonly<Record<string, string>> = {
  'commas, each an error': `a: [${','.repeat(49_000)}]`,
  'braces, each an error': `{${'}'.repeat(49_000)}`.slice(1),
  'brackets, each an error': `a: [${']'.repeat(49_000)}`,
  'as many keys as may be': list(3_990, (i) => `k${i}: 1`, '\n'),
  'as many keys in one line': `a: {${list(3_990, (i) => `k${i}: 1`)}}`,
  'as many parts as may be': `a: [${'1,'.repeat(16_000)}1]`,
  'a long list of lines': `a:\n${'- 1\n'.repeat(12_000)}`,
  'nested lists': `a: ${'['.repeat(20_000)}`,
  'nested maps': `a: ${'{a: '.repeat(3_900)}`,
  'nested dashes': '- '.repeat(20_000),
  'many documents': '---\n'.repeat(12_000),
  'escapes, each an error': `a: "${'\\z'.repeat(100_000)}"`,
  'many quoted texts': `a: ${'"x" '.repeat(12_000)}`,
  'empty lines': `a:\n${'\n'.repeat(49_000)}`,
  comments: `${'#x\n'.repeat(16_000)}a: 1`,
  'too many parts': '[,'.repeat(100_000),
  'tabs and colons': '\t: '.repeat(60_000),
};

/** The same for JSON; with as many values, keys and levels as may be. */
const jsons: Readonly<Record<string, string>> = {
  values: `{"spec":{"members":[${'1,'.repeat(19_000)}1]}}`,
  addresses: `{"spec":{"displayName":"x","members":[${list(9_000, (i) => `"u${i}@a.example.test"`)}]}}`,
  keys: `{"spec":{${list(3_990, (i) => `"k${i}":1`)}}}`,
  'keys in labels': `{"metadata":{"labels":{${list(3_990, (i) => `"k${i}":"v"`)}}}}`,
  'keys in annotations': `{"metadata":{"annotations":{${list(3_990, (i) => `"k${i}":"v"`)}}}}`,
  objects: `{"spec":{"members":[${list(3_900, () => '{"a":[1]}')}]}}`,
  'one long string': `{"spec":{"displayName":"${'a@'.repeat(120_000)}"}}`,
  escapes: `{"spec":{"displayName":"${'\\u0041'.repeat(40_000)}"}}`,
  'spaces and brackets': `${' '.repeat(100_000)}${'['.repeat(100_000)}`,
  'owner references': `{"metadata":{"ownerReferences":[${list(900, (i) => `{"apiVersion":"v1","kind":"A","name":"n","uid":"${i}"}`)}]}}`,
};

const patches: Readonly<Record<string, string>> = {
  'a thousand additions': `[${list(1_000, (i) => `{"op":"add","path":"/spec/members/0","value":"u${i}@a.example.test"}`)}]`,
  'copies of copies': `[${list(1_000, (i) => `{"op":"copy","from":"/spec","path":"/spec/k${i}"}`)}]`,
  'long pointers': `[${list(900, () => `{"op":"test","path":"${'/a'.repeat(120)}","value":1}`)}]`,
  'comparisons of a large value': `[{"op":"add","path":"/spec/a","value":[${'1,'.repeat(3_000)}1]},${list(4, () => `{"op":"test","path":"/spec/a","value":[${'1,'.repeat(3_000)}1]}`)}]`,
};

const cborTexts: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'nested lists': Buffer.alloc(40_000, 0x81),
    'nested maps': Buffer.alloc(40_000, 0xa1),
    'a long list': cbor(Array.from({ length: 40_000 }, () => 1)),
    'many keys': cbor(new Map(Array.from({ length: 10_000 }, (_, i) => [i, i]))),
  }).map(([name, bytes]) => [name, bytes.toString('base64url')]),
);

const chunks: Readonly<Record<string, string>> = {
  'a=b;': 'a=b;',
  'a,': 'a,',
  '*/*;q=0.1,': '*/*;q=0.1,',
  'en-a;q=0.1,': 'en-a;q=0.1,',
  '"\\"': '"\\"',
  'for=192.0.2.1;by=_x,': 'for=192.0.2.1;by=_x,',
  '192.0.2.1,': '192.0.2.1,',
  'Mozilla/5.0 (X11; ': 'Mozilla/5.0 (X11; ',
  'eyJhIjoi.': 'eyJhIjoi.',
  'k=v,': 'k=v,',
};
const headers = [
  'accept',
  'accept-language',
  'accept-encoding',
  'authorization',
  'content-type',
  'cookie',
  'dpop',
  'forwarded',
  'if-match',
  'if-none-match',
  'origin',
  'referer',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-remote-group',
];

const selectors: Readonly<Record<string, string>> = {
  labels: `labelSelector=${list(1_500, (i) => `a${i}=b`)}`,
  'sets of labels': `labelSelector=a+in+(${list(4_000, (i) => `b${i}`)})`,
  absences: `labelSelector=${list(2_000, () => '!a')}`,
  fields: `fieldSelector=${list(400, () => 'metadata.name!=x')}`,
  brackets: `labelSelector=${'('.repeat(10_000)}`,
  'many parameters': list(3_000, (i) => `p${i}=1`, '&'),
  'one parameter often': 'limit=1&'.repeat(1_500),
  'percent signs': `continue=${'%25'.repeat(4_000)}`,
};

const part = (text: string): string => Buffer.from(text).toString('base64url');
/** A JWT with so many members, or so deep a value. */
const tokens: Readonly<Record<string, string>> = {
  'many members': `${part('{"alg":"ES256"}')}.${part(`{${list(240, (i) => `"k${i}":1`)}}`)}.${'A'.repeat(86)}`,
  'a deep value': `${part('{"alg":"ES256"}')}.${part('['.repeat(2_000))}.${'A'.repeat(86)}`,
  dots: '.'.repeat(4_000),
};
const jwtParameters = ['request', 'id_token_hint', 'client_assertion', 'subject_token', 'token'];

let service: TestService;
let operator: Tab;
let interaction: { tab: Tab; I: string };
beforeAll(async () => {
  service = await startTest({
    flags: ['--limit-factor', '100000', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app', {
    grantTypes: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
  });
  operator = (await signIn(service, 'op@example.test')).tab;
  await operator
    .post('groups', { metadata: { name: 'g' }, spec: { displayName: 'G', members: [] } })
    .is(201);
  interaction = await begin(service);
});

/** Expects that no turn is too long, and that every answer is one that the service means. */
async function expectShort(send: () => PromiseLike<Answer>): Promise<void> {
  const codes = new Set<number>();
  const milliseconds = await turnOf(async () => codes.add((await send()).code), limitMs);
  expect([...codes].filter((code) => code >= 500)).toEqual([]);
  expect(milliseconds).toBeLessThan(limitMs);
}

const form = (path: string, fields: string): Promise<Answer> =>
  exchange(
    service.url,
    'POST',
    path,
    { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    fields,
  );
const patch = (path: string, type: string, body: string) =>
  operator.patch(path, body, { headers: { 'content-type': type } });
const apply = 'application/apply-patch+yaml';
const path = 'groups/g?fieldManager=a&force=true';

describe('no body, header, query or token occupies the thread for long', () => {
  test.each(Object.entries(yamls))('YAML: %s', async (_, body) => {
    await expectShort(() => patch(path, apply, body));
  });

  test.each(Object.entries(jsons))('JSON: %s', async (_, body) => {
    await expectShort(() => patch(path, apply, body));
    await expectShort(() => patch('groups/g', 'application/merge-patch+json', body));
    await expectShort(() => operator.post('groups', body));
    await expectShort(() =>
      operator.send('PUT', 'groups/g', { body, headers: { 'content-type': 'application/json' } }),
    );
    await expectShort(() =>
      operator.send('DELETE', 'groups/none', {
        body,
        headers: { 'content-type': 'application/json' },
      }),
    );
    await expectShort(() =>
      operator.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body),
    );
  });

  test.each(Object.entries(patches))('JSON patch: %s', async (_, body) => {
    await expectShort(() => patch('groups/g', 'application/json-patch+json', body));
  });

  test.each(Object.entries(cborTexts))('a credential: %s', async (_, bytes) => {
    const { tab, I } = interaction;
    const id = part('id');
    const clientDataJSON = part('{"type":"webauthn.create","challenge":"x","origin":"y"}');
    const response = {
      clientDataJSON,
      attestationObject: bytes,
      authenticatorData: bytes,
      signature: bytes,
    };
    const credential = { id, rawId: id, type: 'public-key', response };
    await expectShort(() => operator.post('passkeys', { spec: { credential } }));
    await expectShort(() => tab.post(`${I}/login`, { spec: { method: 'Passkey', credential } }));
  });

  test.each(headers)('header %s', async (name) => {
    for (const chunk of Object.values(chunks)) {
      const value = chunk.repeat(Math.floor(14_000 / chunk.length));
      for (const path of ['/api/v1beta1/policies', '/oauth2/auth?client_id=app', '/account']) {
        await expectShort(() =>
          exchange(service.url, 'GET', path, { accept: 'application/json', [name]: value }),
        );
      }
    }
  });

  test.each(Object.entries(selectors))('query: %s', async (_, query) => {
    for (const path of ['/api/v1beta1/policies', '/oauth2/auth', '/oauth2/logout', '/account']) {
      await expectShort(() =>
        exchange(service.url, 'GET', `${path}?${query}`, { accept: 'application/json' }),
      );
    }
    await expectShort(() => operator.get(`groups?${query}`));
  });

  test.each(Object.entries(tokens))('a token: %s', async (_, token) => {
    const fields = `client_id=app&response_type=code&${list(jwtParameters.length, (i) => `${jwtParameters[i]}=${token}`, '&')}`;
    for (const name of [
      'token',
      'par',
      'auth',
      'device/auth',
      'logout',
      'introspect',
      'userinfo',
      'revoke',
    ]) {
      await expectShort(() => form(`/oauth2/${name}`, fields));
    }
    for (const scheme of ['Bearer', 'DPoP', 'Basic']) {
      await expectShort(() =>
        exchange(service.url, 'GET', '/api/v1beta1/accounts/~', {
          accept: 'application/json',
          authorization: `${scheme} ${token}`,
          dpop: token,
        }),
      );
    }
  });

  test.each(Object.entries({ ...selectors, 'a long value': `x=${'%41'.repeat(80_000)}` }))(
    'a form: %s',
    async (_, fields) => {
      for (const name of ['token', 'par', 'auth', 'device/auth', 'device', 'logout', 'revoke']) {
        await expectShort(() => form(`/oauth2/${name}`, `client_id=app&${fields}`));
      }
    },
  );
});

/** Rules over 30 Groups; one more condition than the search changes at once, so it finds nothing. */
const groupRules = list(
  30,
  (i) => `@id("needs-${i}") @message("Not without Group g${i}.")
    forbid (principal, action == Action::"share", resource == Scope::"${['email', 'profile', 'groups'][i % 3]}")
    unless {
      principal in Group::"g${i}" && context has domain && context.domain like "*.x${i}.test" &&
      context has network && context.network.isInRange(ip("198.51.${i}.0/24"))
    };
    @id("app-${i}") @message("Not this app.")
    forbid (principal, action == Action::"signIn", resource)
    when { resource == Client::"menu-${i}" } unless { principal in Group::"g${i}" };`,
  '\n',
);

describe('no GET that decides many things occupies the thread for long', () => {
  let person: Tab;
  let I: string;
  beforeAll(async () => {
    const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    const scopes = ['openid', 'email', 'profile', 'groups'].map((name) => ({
      name,
      required: false,
    }));
    await createClient(service, 'three', { scopes });
    for (let i = 0; i < 30; i += 1) {
      await createClient(service, `menu-${i}`, {
        appMenu: 'Everyone',
        homepageURI: 'https://app.example.test/',
      });
    }
    person = (await signIn(service, 'ada@example.test')).tab;
    await operator.post('policies', { spec: { cedar: `${first}\n${groupRules}` } }).is(201);
    const path = authorizationPath('three', 'openid email profile groups', 'v'.repeat(43));
    const { headers } = await person.navigate(path);
    I = String(headers.location).replace(/.*\/interaction\//, 'interactions/');
    expect((await person.get(I).is(200)).body.status.phase).toBe('ConsentRequired');
  });

  test.each([
    ['a consent with three refused scopes', () => I],
    ['the menu of apps', () => 'accounts/~/apps'],
    ['an export', () => 'accounts/~/export'],
    ['decisions', () => 'policydecisions'],
    ['sessions', () => 'sessions'],
    ['policies', () => 'policies'],
    ['clients', () => 'clients'],
    ['OpenAPI', () => '/openapi/v3'],
  ])('%s', async (_, path) => {
    await expectShort(() => person.get(path()));
  });

  test('rules for oneself', async () => {
    await expectShort(() =>
      person.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
        spec: { namespace: 'default' },
      }),
    );
  });
});
