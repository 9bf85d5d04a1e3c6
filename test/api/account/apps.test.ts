import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { clock } from '../../support/clock.js';
import { settles } from '../../support/patience.js';
import { signedInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const rules = `
@id("bank-by-passkey") @message("Sign in with a passkey.")
forbid (principal, action == Action::"signIn", resource == Client::"bank")
unless { context.assurance == "phr" };
@id("till-soon") @message("Sign in again for the till.")
forbid (principal, action == Action::"signIn", resource == Client::"till")
unless { context.signedInRecently };
@id("staff-only") @message("Only staff may sign in here.")
forbid (principal, action == Action::"signIn", resource)
when { [Client::"depot", Client::"secret", Client::"staff"].contains(resource) }
unless { principal in Group::"staff" };
@id("depot-for-its-crew") @message("Only its crew may sign in here.")
forbid (principal, action == Action::"share", resource == Scope::"openid")
when { context has client && context.client == Client::"depot" }
unless { principal in Group::"crew" };
@id("no-identity") @message("This app learns nothing about you.")
forbid (principal, action == Action::"share", resource == Scope::"openid")
when { context has client && context.client == Client::"blind" };`;

const home = (name: string) => ({ homepageURI: `https://${name}.example.test/` });

describe.each(stores)('the app menu, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let ada: Tab;
  const menuOf = async (tab: Tab) => (await tab.get('accounts/~/apps').is(200)).body.items;
  const ofMenu = async (tab: Tab, client: string) =>
    (await menuOf(tab)).find((one: { client: string }) => one.client === client);

  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      quickDecisions: true,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    await createClient(service, 'bank', { ...home('bank'), appMenu: 'Everyone' });
    await createClient(service, 'blind', { ...home('blind'), appMenu: 'Everyone' });
    await createClient(service, 'depot', { ...home('depot'), appMenu: 'Everyone' });
    await createClient(service, 'notes', {
      ...home('notes'),
      displayNames: { de: 'Notizen' },
      initiateLoginURI: 'https://notes.example.test/login?from=menu',
      logoURI: 'https://notes.example.test/logo.png',
    });
    await createClient(service, 'quiet', { ...home('quiet'), appMenu: 'NoOne' });
    await createClient(service, 'secret', home('secret'));
    await createClient(service, 'staff', { ...home('staff'), appMenu: 'Everyone' });
    await createClient(service, 'till', { ...home('till'), appMenu: 'Everyone' });
    operator = (await signIn(service, 'op@example.test')).tab;
    const { body } = await operator.get('policies/p-1').is(200);
    await operator.post('policies', { spec: { cedar: body.spec.cedar + rules } }).is(201);
    await operator
      .post('groups', {
        metadata: { name: 'staff' },
        spec: { displayName: 'Staff', members: ['staff@example.test'] },
      })
      .is(201);
    ada = (await signIn(service, 'ada@example.test')).tab;
  });

  afterAll(() => clock.release());

  test('has the apps that policy permits, and those that it refuses with the reason', async () => {
    const { body } = await ada.get('accounts/~/apps').is(200);
    expect(body).toEqual({
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'AccountApps',
      items: [
        {
          client: 'bank',
          displayName: 'bank app',
          access: 'PasskeyRequired',
          reason: 'Sign in with a passkey.',
        },
        {
          client: 'blind',
          displayName: 'blind app',
          access: 'Refused',
          reason: 'This app learns nothing about you.',
        },
        // One more group would not be enough, so none is offered.
        {
          client: 'depot',
          displayName: 'depot app',
          access: 'Refused',
          reason: 'Only staff may sign in here.',
        },
        {
          client: 'notes',
          displayName: 'notes app',
          displayNames: { de: 'Notizen' },
          logoURI: 'https://notes.example.test/logo.png',
          access: 'Allowed',
          startURI: `https://notes.example.test/login?from=menu&iss=${encodeURIComponent(service.baseURL)}`,
        },
        {
          client: 'staff',
          displayName: 'staff app',
          access: 'Refused',
          reason: 'Only staff may sign in here.',
          requestableGroups: ['staff'],
        },
        expect.objectContaining({ client: 'till' }),
      ],
    });
  });

  test('does not have an app that is refused and not shown to everyone', async () => {
    const named = (await menuOf(ada)).map(({ client }: { client: string }) => client);
    expect(named).not.toContain('secret');
    expect(named).not.toContain('quiet');
    expect(named).not.toContain('app');
    const { tab } = await signIn(service, 'staff@example.test');
    expect(await ofMenu(tab, 'secret')).toMatchObject({
      access: 'Allowed',
      startURI: 'https://secret.example.test/',
    });
    expect(await ofMenu(tab, 'staff')).toMatchObject({ access: 'Allowed' });
    expect(await ofMenu(tab, 'quiet')).toBeUndefined();
  });

  test('says where a new sign-in is enough, and where a passkey is missing', async () => {
    const { tab: old } = await withPasskey(service, 'old@example.test');
    expect(await ofMenu(old, 'bank')).toMatchObject({
      access: 'SignInAgain',
      reason: 'Sign in with a passkey.',
      startURI: 'https://bank.example.test/',
    });
    const { tab: strong } = await signedInByPasskey(service, 'strong@example.test');
    expect(await ofMenu(strong, 'bank')).toEqual({
      client: 'bank',
      displayName: 'bank app',
      access: 'Allowed',
      startURI: 'https://bank.example.test/',
    });
  });

  test('asks for a new sign-in of those whose sign-in is too old', async () => {
    const { tab } = await signIn(service, 'late@example.test');
    expect(await ofMenu(tab, 'till')).toMatchObject({ access: 'Allowed' });
    clock.advance(11 * 60_000);
    expect(await ofMenu(tab, 'till')).toMatchObject({
      access: 'SignInAgain',
      reason: 'Sign in again for the till.',
      startURI: 'https://till.example.test/',
    });
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  test('is of the person alone: 401, 404 and 403 to all others', async () => {
    const { body } = await ada.get('accounts/~').is(200);
    const { tab: other } = await signIn(service, 'other@example.test');
    const path = `accounts/${body.metadata.name}/apps`;
    await ada.get(path).is(200);
    await service.tab().get(path).fails(401, 'Unauthorized');
    await service.tab().get('accounts/~/apps').fails(401, 'Unauthorized');
    await other.get(path).fails(404, 'NotFound');
    await operator.get(path).fails(403, 'Forbidden');
    const gone = (await other.get('accounts/~').is(200)).body.metadata.name;
    await operator.post(`accounts/${gone}/disable`, { spec: {} }).is(200);
    await other.get('accounts/~/apps').fails(401, 'Unauthorized');
  });

  test('stays of the person alone when a rule lets operators ask', async () => {
    const { body } = await ada.get('accounts/~').is(200);
    const text = (await operator.get('policies/p-2').is(200)).body.spec.cedar;
    const wide =
      '@id("wide") @message("Wide.") permit (principal in Group::"operators", action == Action::"accounts/apps", resource is Account);';
    await operator.post('policies', { spec: { cedar: `${text}\n${wide}` } }).is(201);
    const refused = await operator
      .get(`accounts/${body.metadata.name}/apps`)
      .fails(403, 'Forbidden');
    expect(refused.message).toContain('only the person themselves');
  });

  test('records no decision about a sign-in that did not happen', async () => {
    const { body } = await ada.get('accounts/~').is(200);
    await menuOf(ada);
    await ada.get('groups').fails(403, 'Forbidden');
    const recorded = await settles(
      async () =>
        (await service.store.reader(PolicyDecision).list(body.metadata.name)) as DecisionObject[],
      (all) => all.some(({ spec }) => spec.resource?.kind === 'Group'),
    );
    const about = recorded.filter(({ spec }) => ['signIn', 'share'].includes(spec.action));
    expect(about.map(({ spec }) => spec.input.name)).not.toContain('bank');
    expect(about.filter(({ status }) => !status.allowed)).toEqual([]);
  });
});
