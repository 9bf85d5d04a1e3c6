import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Group } from '../../kinds/people/group/group.js';
import { begin, mailTo } from '../support/people/signin.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { credentials, Party } from './support/party.js';

let service: TestService;
let party: Party;
const scopes = [
  { name: 'openid', required: true },
  { name: 'groups', required: false },
  { name: 'offline_access', required: false },
];
const put = (name: string, members: string[]): Promise<unknown> =>
  service.store.change(service.store.systemCall(), async (tx) => {
    if (await tx.get(Group, name)) {
      await tx.update(Group, name, ({ spec }) => {
        spec.members = members;
      });
    } else {
      await tx.create(Group, { metadata: { name }, spec: { displayName: name, members } });
    }
  });
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '100', '--operators', 'op@example.test'] });
  party = await Party.of(service, 'board', credentials.basic('secret'), { scopes });
  await put('staff', ['ada@example.test', 'op@example.test']);
  await put('readers', ['ADA@example.test']);
});
afterAll(stopAll);

test('the groups of a person are shown before they leave', async () => {
  const begun = await begin(service, { client: 'board', scope: 'openid groups' });
  await begun.tab
    .post(`${begun.I}/emailchallenge`, { spec: { email: 'ada@example.test' } })
    .is(200);
  const { code } = await mailTo(service, 'ada@example.test');
  await service.tab().delete('mockmessages').is(200);
  const { body } = await begun.tab
    .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
    .is(200);
  const shown = await begun.tab
    .get((await begun.tab.navigate(body.status.returnTo).is(303)).headers.location!)
    .is(200);
  expect(shown.body.status.consent.scopes[1]).toMatchObject({
    name: 'groups',
    sensitive: false,
    required: false,
    allowed: true,
    provider: { name: 'vestibule' },
    preview: [{ claim: 'groups', title: 'Groups', value: ['readers', 'staff'] }],
  });
});

test('what leaves is what holds then: at userinfo and at each refresh', async () => {
  const tab = service.tab();
  const tokens = await party.signIn(tab, 'ada@example.test', 'openid groups offline_access', {
    prompt: 'consent',
  });
  const claims = (jwt: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString());
  const sub = String(claims(tokens.id_token!).sub);
  expect(claims(tokens.id_token!).groups).toEqual(['readers', 'staff']);
  expect(await party.userinfo(tokens.access_token, sub)).toEqual({
    sub,
    groups: ['readers', 'staff'],
  });
  await put('readers', []);
  expect(await party.userinfo(tokens.access_token, sub)).toEqual({ sub, groups: ['staff'] });
  await put('staff', ['op@example.test']);
  expect(claims((await party.refresh(tokens.refresh_token!)).id_token!)).not.toHaveProperty(
    'groups',
  );
  const grants = (await tab.get('grants').is(200)).body.items;
  expect(
    grants[0].status.disclosures.map(({ scope, claims, provider }: any) => [
      scope,
      claims,
      provider,
    ]),
  ).toEqual([
    ['openid', ['sub', 'acr', 'amr', 'auth_time'], 'vestibule'],
    ['groups', ['groups'], 'vestibule'],
  ]);
});

test('nothing of it leaves where it was not agreed to', async () => {
  const tokens = await party.signIn(service.tab(), 'op@example.test', 'openid');
  const sub = String(
    JSON.parse(Buffer.from(tokens.id_token!.split('.')[1]!, 'base64url').toString()).sub,
  );
  expect(await party.userinfo(tokens.access_token, sub)).toEqual({ sub });
});
