import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { begin, mailTo, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const isInvitation = ({ subject }: { subject: string }): boolean =>
  /invited|eingeladen/.test(subject);
const isCode = ({ code }: { code?: string }): boolean => code !== undefined;

describe.each(stores)('an invitation, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let invitedBy: string;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app', { initiateLoginURI: 'https://app.example.test/login?a=1' });
    operator = (await signIn(service, 'op@example.test')).tab;
    invitedBy = (await operator.get('accounts/~').is(200)).body.metadata.name;
    for (const name of ['staff', 'readers']) {
      await operator.post('groups', { metadata: { name }, spec: { displayName: name } }).is(201);
    }
  });

  const invite = async (email: string, spec: object = { groups: ['staff'] }) =>
    (
      await operator
        .post('invitations', { metadata: { generateName: 'invite-' }, spec: { email, ...spec } })
        .is(201)
    ).body;
  const read = async (name: string) => (await operator.get(`invitations/${name}`).is(200)).body;
  const membersOf = async (name: string): Promise<string[]> =>
    (await operator.get(`groups/${name}`).is(200)).body.spec.members;

  test('is mailed, and the sign-in with its address accepts it once, with its groups', async () => {
    const { metadata, spec, status } = await invite('Ada@Example.test', {
      groups: ['staff', 'readers', 'staff'],
    });
    expect(spec.groups).toEqual(['staff', 'readers']);
    expect(status).toEqual({ phase: 'Pending', invitedBy, conditions: expect.any(Array) });
    const days = (Date.parse(spec.until) - Date.parse(metadata.creationTimestamp)) / 86_400_000;
    expect(days).toBe(7);
    const mail = await mailTo(service, 'ada@example.test', [], isInvitation);
    expect(mail.text).toContain(`${service.baseURL}/account`);
    const done = await signIn(service, 'ada@example.test');
    const { name } = (await done.tab.get('accounts/~').is(200)).body.metadata;
    expect((await read(metadata.name)).status).toEqual({
      phase: 'Accepted',
      invitedBy,
      account: name,
      acceptedTimestamp: expect.any(String),
      groups: ['staff', 'readers'],
      conditions: expect.any(Array),
    });
    expect(await membersOf('staff')).toContain('ada@example.test');
    expect(await membersOf('readers')).toContain('ada@example.test');
    await operator.patch('groups/staff', { spec: { members: [] } }).is(200);
    await signIn(service, 'ada@example.test');
    expect(await membersOf('staff')).toEqual([]);
  });

  test('is accepted by the next sign-in of an account that exists, by one of two at once', async () => {
    await signIn(service, 'grace@example.test');
    const { metadata } = await invite('grace@example.test');
    expect((await read(metadata.name)).status.phase).toBe('Pending');
    const attempts = [await attempt('grace@example.test'), await attempt('grace@example.test')];
    await Promise.all(attempts.map((attempt) => attempt.login(attempt.code).is(200)));
    expect((await read(metadata.name)).status.phase).toBe('Accepted');
    expect(
      (await membersOf('staff')).filter((member) => member === 'grace@example.test'),
    ).toHaveLength(1);
  });

  /** Begins a sign-in and requests the code; `login` sends one. */
  async function attempt(email: string) {
    const { tab, I } = await begin(service);
    const before = ((await service.tab().get('mockmessages').is(200)).body.items as any[]).map(
      (item) => item.metadata.name,
    );
    await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
    const { code } = await mailTo(service, email, before, isCode);
    return {
      code,
      login: (tried: string) =>
        tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: tried } }),
    };
  }

  test('gives nothing to someone who has the link and not the mailbox', async () => {
    const { metadata } = await invite('mallory-wants@example.test');
    const { text } = await mailTo(service, 'mallory-wants@example.test', [], isInvitation);
    const link = /https?:\S+/.exec(text)![0];
    expect(new URL(link).search + new URL(link).hash).toBe('');
    await signIn(service, 'mallory@example.test');
    const guess = await attempt('mallory-wants@example.test');
    await guess.login(wrong(guess.code)).fails(422, 'Invalid', 'spec.code');
    expect((await read(metadata.name)).status).toEqual({
      phase: 'Pending',
      invitedBy,
      conditions: expect.any(Array),
    });
    expect(await membersOf('staff')).not.toContain('mallory@example.test');
    expect(await membersOf('staff')).not.toContain('mallory-wants@example.test');
  });

  test('gives nothing after it was deleted or has expired', async () => {
    const deleted = await invite('gone@example.test');
    await operator.delete(`invitations/${deleted.metadata.name}`).is(200);
    const call = service.store.systemCall();
    const { metadata } = await invite('late@example.test');
    await operator
      .post('invitations', { metadata: { name: 'second' }, spec: { email: 'LATE@example.test' } })
      .fails(409, 'AlreadyExists');
    await service.store.change(call, (tx) =>
      tx.update(Invitation, metadata.name, ({ spec }) => {
        spec.until = toTimestamp(call.now - 1000);
      }),
    );
    expect((await read(metadata.name)).status.phase).toBe('Expired');
    await signIn(service, 'gone@example.test');
    await signIn(service, 'late@example.test');
    expect(await membersOf('staff')).not.toContain('gone@example.test');
    expect(await membersOf('staff')).not.toContain('late@example.test');
    const next = await invite('late@example.test');
    await operator.get(`invitations/${metadata.name}`).fails(404, 'NotFound');
    expect((await read(next.metadata.name)).status.phase).toBe('Pending');
  });

  test('leads to an app that can start a sign-in, and to no other', async () => {
    await createClient(service, 'plain');
    await invite('app@example.test', { client: 'app', locale: 'de-CH' });
    const { text, subject } = await mailTo(service, 'app@example.test', [], isInvitation);
    const link = new URL(/https:\S+/.exec(text)![0]);
    expect(subject).toBe('Sie sind zu app app eingeladen');
    expect(link.href.split('?')[0]).toBe('https://app.example.test/login');
    expect(Object.fromEntries(link.searchParams)).toEqual({
      a: '1',
      iss: service.baseURL,
      login_hint: 'app@example.test',
    });
    const refused = (spec: object, field: string) =>
      operator
        .post('invitations', { metadata: { name: 'refused' }, spec })
        .fails(422, 'Invalid', field);
    await refused({ email: 'b@example.test', client: 'plain' }, 'spec.client');
    await refused({ email: 'b@example.test', groups: ['absent'] }, 'spec.groups[0]');
    await refused({ groups: ['staff'] }, 'spec.email');
    await refused({ email: 'a%b@example.test' }, 'spec.email');
    await refused({ email: 'b@example.test', until: '2020-01-01T00:00:00Z' }, 'spec.until');
  });

  test.each([
    ['de-AT', 'Sie sind zu Urlaubsfotos eingeladen'],
    ['fr', 'Holiday photos'],
  ])('names an app in the language of the mail, %s, or in English', async (locale, words) => {
    await createClient(service, `photos-${locale.toLowerCase()}`, {
      displayName: 'Pics',
      displayNames: { en: 'Holiday photos', de: 'Urlaubsfotos' },
      initiateLoginURI: 'https://app.example.test/login',
    });
    const email = `${locale.toLowerCase()}@example.test`;
    await invite(email, { client: `photos-${locale.toLowerCase()}`, locale });
    const { subject, text } = await mailTo(service, email);
    expect(subject).toContain(words);
    expect(text).not.toContain('Pics');
  });

  test('of a member who may invite reaches no group that the member may not update', async () => {
    const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
    const rule = `
@id("staff-invites") permit (principal in Group::"staff", action == Action::"create", resource is Invitation);
@id("staff-updates-readers") permit (principal in Group::"staff", action == Action::"update", resource == Group::"readers");`;
    await operator.post('policies', { spec: { cedar: `${cedar}${rule}` } }).is(201);
    await operator.patch('groups/staff', { spec: { members: ['lead@example.test'] } }).is(200);
    const { tab } = await signIn(service, 'lead@example.test');
    const send = (name: string, groups: string[]) =>
      tab.post('invitations', {
        metadata: { name },
        spec: { email: `${name}@example.test`, groups },
      });
    await send('friend', ['readers']).is(201);
    await send('accomplice', ['operators']).fails(403, 'Forbidden');
    await send('accomplice', ['readers', 'staff']).fails(403, 'Forbidden');
    await signIn(service, 'friend@example.test');
    expect(await membersOf('readers')).toContain('friend@example.test');
  });

  test('is a fact of policy at the sign-up that accepts it, with the groups it gives', async () => {
    const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
    const rules = `
@id("by-invitation") @message("Ask for an invitation.") forbid (principal, action == Action::"signUp", resource) unless { context.invited };
@id("for-staff") @message("For staff.") forbid (principal, action == Action::"signIn", resource == Client::"app") unless { principal in Group::"staff" || principal in Group::"operators" };`;
    const { body: policy } = await operator
      .post('policies', { spec: { cedar: `${cedar}${rules}` } })
      .is(201);
    const stranger = await attempt('stranger@example.test');
    const { message } = await stranger.login(stranger.code).fails(403, 'Forbidden');
    expect(message).toContain('Ask for an invitation.');
    await invite('newcomer@example.test');
    await signIn(service, 'newcomer@example.test');
    expect(await membersOf('staff')).toContain('newcomer@example.test');
    const made = (await service.store.reader(PolicyDecision).list()) as DecisionObject[];
    const signUp = made.find(
      ({ spec, status }) =>
        spec.action === 'signUp' && status.allowed && spec.policy === policy.metadata.name,
    );
    expect(signUp?.spec.input).toMatchObject({ groups: ['staff'], facts: { invited: true } });
  });
});
