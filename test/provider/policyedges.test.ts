import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ClaimsProvider } from '../../kinds/apps/claims/claims-provider.js';
import { Client } from '../../kinds/apps/client/client.js';
import { PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { begin, mailTo, redeem, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { until } from './support/fixture.js';
import { Supplier, says } from './support/supplier.js';

let service: TestService;
let supplier: Supplier;
let op: Tab;
let first: string;
beforeAll(async () => {
  supplier = await Supplier.open();
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app', {
    scopes: [
      { name: 'openid', required: true },
      { name: 'card', required: false },
      { name: 'perk', required: false },
      { name: 'pass', required: false },
    ],
  });
  op = (await signIn(service, 'op@example.test', { scope: 'openid' })).tab;
  first = (await op.get('policies/p-1').is(200)).body.spec.cedar;
});
afterAll(async () => {
  await stopAll();
  await supplier.close();
});

const inForce = (rule: string) =>
  op.post('policies', { spec: { cedar: `${first}\n${rule}\n` } }).is(201);
const mine = (scopes: any[], name: string) => scopes.find((scope) => scope.name === name);
const released = async (tokens: { body: any }) =>
  (
    await service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${tokens.body.access_token}` },
      })
      .is(200)
  ).body;

/** Signs someone in as far as the consent screen. */
async function toConsent(address: string, scope: string, parameters: Record<string, string> = {}) {
  const begun = await begin(service, { scope, parameters });
  await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { code } = await mailTo(service, address);
  await service.tab().delete('mockmessages').is(200);
  const { body } = await begun.tab
    .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
    .is(200);
  return {
    ...begun,
    account: body.status.account.name as string,
    path: (await begun.tab.navigate(body.status.returnTo).is(303)).headers.location!,
  };
}

async function declare(name: string, claim: string): Promise<void> {
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.create(ClaimsProvider, {
      metadata: { name },
      status: {},
      spec: {
        displayName: name,
        reviewURI: supplier.url,
        timeoutMilliseconds: 2000,
        failurePolicy: 'Omit',
        scopes: [
          {
            name: 'card',
            title: 'Your card',
            description: 'For tests.',
            sensitive: false,
            claims: [{ name: claim, title: claim, type: 'string' }],
          },
        ],
      },
    } as never),
  );
}

test('a sign-in by emailed link is one from its first question on', async () => {
  await inForce(
    '@id("links-alone") @message("Sign in by the link.") forbid (principal, action == Action::"signIn", resource) unless { context.methods.contains("EmailLink") };',
  );
  const { tab, I } = await begin(service, { scope: 'openid' });
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'linked@example.test' } }).is(200);
  const { token } = await mailTo(service, 'linked@example.test');
  const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailLink', token } }).is(200);
  const to = (await tab.navigate(body.status.returnTo).is(303)).headers.location!;
  expect((await tab.get(to).is(200)).body.status).toMatchObject({ phase: 'ConsentRequired' });
  expect((await tab.get(to).is(200)).body.status).not.toHaveProperty('refusal');
  await inForce('');
});

test('where a request comes from is known of pages and of the provider too', async () => {
  await inForce(
    '@id("ours-alone") @message("From our own pages.") forbid (principal, action in [Action::"provider", Action::"page"], resource) when { context.site == "cross-site" };',
  );
  const from = (site: string) => ({
    plain: true,
    headers: {
      accept: 'text/html',
      'sec-fetch-site': site,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    },
  });
  for (const path of ['/oauth2/auth?client_id=absent', '/policy']) {
    expect((await service.tab().get(path, from('cross-site'))).code).toBe(403);
    expect((await service.tab().get(path, from('none'))).code).not.toBe(403);
  }
  await inForce('');
});

test('one person whom a service does not know keeps no one else from it', async () => {
  await supplier.declare(service, 'pass', { level: 'string' });
  const good = says({ level: 'gold' });
  let unknown = '';
  supplier.answer = (response, question) => {
    if (question.body.spec.account === unknown) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    } else {
      good(response, question);
    }
  };
  const stranger = await toConsent('stranger@example.test', 'openid pass');
  unknown = stranger.account;
  for (let i = 0; i < 6; i += 1) {
    expect(
      mine((await stranger.tab.get(stranger.path).is(200)).body.status.consent.scopes, 'pass'),
    ).toMatchObject({ previewUnavailable: true });
  }
  const known = await toConsent('known@example.test', 'openid pass');
  expect(
    mine((await known.tab.get(known.path).is(200)).body.status.consent.scopes, 'pass').preview,
  ).toEqual([expect.objectContaining({ value: 'gold' })]);
});

test('what was agreed to get from one service is not got from another', async () => {
  supplier.answer = says({ tier: 'gold', iban: 'CH93' });
  await declare('airline', 'tier');
  const { tab, path } = await toConsent('traveller@example.test', 'openid card');
  expect(mine((await tab.get(path).is(200)).body.status.consent.scopes, 'card')).toMatchObject({
    provider: { name: 'airline' },
    preview: [{ claim: 'tier' }],
  });
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.delete(ClaimsProvider, 'airline'),
  );
  await declare('bank', 'iban');
  await tab
    .post(`${path}/consent`, { spec: { scopes: ['openid', 'card'] } })
    .fails(422, 'Invalid', 'spec.scopes[1]');
  expect(mine((await tab.get(path).is(200)).body.status.consent.scopes, 'card')).toMatchObject({
    provider: { name: 'bank' },
    preview: [{ claim: 'iban' }],
  });
  await tab.post(`${path}/consent`, { spec: { scopes: ['openid', 'card'] } }).is(200);
});

test('what could not be previewed is agreed to by the names that were shown', async () => {
  await supplier.declare(service, 'pet', { animal: 'string' });
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Client, 'app', ({ spec }) => {
      spec.scopes.push({ name: 'pet', required: false });
    }),
  );
  supplier.answer = (response) => {
    response.writeHead(500).end();
  };
  const { path, ...begun } = await toConsent('keeper@example.test', 'openid pet');
  const unread = await begun.tab
    .post(`${path}/consent`, { spec: { scopes: ['openid', 'pet'] } })
    .fails(422, 'Invalid', 'spec.scopes[1]');
  expect(unread.message).toContain('were not shown yet');
  expect(mine((await begun.tab.get(path).is(200)).body.status.consent.scopes, 'pet')).toMatchObject(
    {
      preview: [],
      previewUnavailable: true,
      claims: [{ claim: 'animal', title: 'Title of animal' }],
    },
  );
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(ClaimsProvider, 'pet', ({ spec }) => {
      spec.scopes[0]!.claims.push({ name: 'chip', title: 'Chip', type: 'string' });
    }),
  );
  supplier.answer = says({ animal: 'cat', chip: '756' });
  const agreed = await begun.tab
    .post(`${path}/consent`, { spec: { scopes: ['openid', 'pet'] } })
    .is(200);
  const callback = new URL(
    (await begun.tab.navigate(agreed.body.status.returnTo).is(303)).headers.location!,
  );
  const values = await released(await redeem(service, { ...begun, callback }));
  expect([values.animal, values.chip]).toEqual(['cat', undefined]);
});

test.each([
  ['', 'Policy refuses it.'],
  ['@message("Not for now.")', 'Not for now.'],
])('a refusal says the same wherever it is read (%s)', async (said, words) => {
  await inForce('');
  const { tab, path } = await toConsent(`words${words.length}@words.test`, 'openid card');
  const rules = [
    'action == Action::"share", resource == Scope::"card")',
    'action == Action::"signIn", resource) when { context.domain == "words.test" }',
    'action == Action::"interactions/login", resource) when { context has method && context.method == "EmailLink" }',
  ];
  await inForce(rules.map((rule) => `${said} forbid (principal, ${rule};`).join('\n'));
  expect(mine((await tab.get(path).is(200)).body.status.consent.scopes, 'card')).toMatchObject({
    allowed: false,
    reason: words,
  });
  expect(
    (
      await tab
        .post(`${path}/consent`, { spec: { scopes: ['openid', 'card'] } })
        .fails(422, 'Invalid', 'spec.scopes[1]')
    ).details!.causes![0]!.message,
  ).toBe(`Forbidden: ${words}`);
  const refused = async (I: string, from: Tab, spec: object): Promise<void> => {
    const { message, details } = await from.post(`${I}/login`, { spec }).fails(403, 'Forbidden');
    expect(message!.endsWith(`is forbidden: ${words}`)).toBe(true);
    const record = await until(
      async () => service.store.reader(PolicyDecision).get(details!.policyDecision!),
      'the record',
    );
    expect(record.status.reasons[0]).toMatchObject({ rule: expect.any(String), message: words });
  };
  const begun = await begin(service, { scope: 'openid' });
  await begun.tab
    .post(`${begun.I}/emailchallenge`, { spec: { email: `late${words.length}@words.test` } })
    .is(200);
  const { code, token } = await mailTo(service, `late${words.length}@words.test`);
  await refused(begun.I, begun.tab, { method: 'EmailLink', token });
  await refused(begun.I, begun.tab, { method: 'EmailCode', code });
  const again = await begin(service, { tab, scope: 'openid' });
  expect((await tab.get(again.I).is(200)).body.status.refusal).toMatchObject({ message: words });
  await inForce('');
});

test('a Client that is no longer a first party has no consent from anyone', async () => {
  supplier.answer = says({ tier: 'gold' });
  await supplier.declare(service, 'perk', { tier: 'string' });
  await createClient(service, 'ours', {
    firstParty: true,
    scopes: [
      { name: 'openid', required: true },
      { name: 'perk', required: false },
    ],
  });
  const inside = await signIn(service, 'gus@example.test', {
    client: 'ours',
    scope: 'openid perk',
  });
  expect(await released(await redeem(service, inside))).toMatchObject({ tier: 'gold' });
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Client, 'ours', ({ spec }) => {
      spec.firstParty = false;
    }),
  );
  const asked = await begin(service, { tab: inside.tab, client: 'ours', scope: 'openid perk' });
  expect((await asked.tab.get(asked.I).is(200)).body.status.phase).toBe('ConsentRequired');
});
