import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { register } from '../../support/people/passkeys.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(120_000);

const hour = 3_600_000;
const redirectURIs = ['https://rp.example.test/cb'];

/** Returns `Type Status Reason` of each condition. */
const said = ({ status }: any): string[] =>
  status.conditions.map(
    (condition: any) => `${condition.type} ${condition.status} ${condition.reason}`,
  );
const timeOf = ({ status }: any, type: string): string =>
  status.conditions.find((condition: any) => condition.type === type).lastTransitionTime;

describe.each(stores)('conditions, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });
  afterEach(async () => {
    await service.tab().delete('mockmessages').is(200);
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });
  const create = async (resource: string, name: string, spec: object): Promise<any> =>
    (await operator.post(resource, { metadata: { name }, spec }).is(201)).body;

  test('a Client is ready once it has a redirect URI and, where it needs one, a secret', async () => {
    const [pkce, name] = ['PKCERequired False Optional', 'clients/soon'];
    const created = await create('clients', 'soon', { displayName: 'Soon' });
    expect(said(created)).toEqual(['Ready False NoRedirectURI', pkce]);
    const secretless = (await operator.patch(name, { spec: { redirectURIs } }).is(200)).body;
    expect(said(secretless)).toEqual(['Ready False NoSecret', pkce]);
    expect(timeOf(secretless, 'Ready')).toBe(timeOf(created, 'Ready'));
    clock.advance(2_000);
    await operator.post(`${name}/secret`, { spec: {} }).is(201);
    const ready = (await operator.get(name).is(200)).body;
    expect(said(ready)).toEqual(['Ready True Complete', pkce]);
    expect(timeOf(ready, 'Ready') > timeOf(created, 'Ready')).toBe(true);
    expect(timeOf(ready, 'PKCERequired')).toBe(timeOf(created, 'PKCERequired'));
    for (const [client, spec] of [
      ['spa', { type: 'Public', redirectURIs }],
      ['hashed', { redirectURIs, secretHashes: [`sha256:${'a'.repeat(64)}`] }],
      [
        'keyed',
        {
          redirectURIs,
          tokenEndpointAuthMethod: 'private_key_jwt',
          jwksURI: 'https://rp.example.test/jwks',
        },
      ],
      ['device', { type: 'Public', grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'] }],
    ] as const) {
      expectFor(
        client,
        said(await create('clients', client, { displayName: client, ...spec }))[0],
      ).toEqual('Ready True Complete');
    }
  });

  test('the newest Policy is in force, and the one before is no longer', async () => {
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    expect(said((await operator.get('policies/p-1').is(200)).body)).toEqual([
      'InForce True Newest',
    ]);
    const { body } = await operator.post('policies', { spec }).is(201);
    expect(said(body)).toEqual(['InForce True Newest']);
    const { items } = (await service.tab().get('policies').is(200)).body;
    expect(items.flatMap(said)).toEqual(['InForce False Superseded', 'InForce True Newest']);
    expect(timeOf(items[0], 'InForce')).toBe(items[0].status.supersededTimestamp);
    expect(timeOf(items[1], 'InForce')).toBe(items[1].status.inForceSince);
  });

  test('an Invitation is accepted by the sign-in with its address, or expires', async () => {
    await create('invitations', 'ada', { email: 'ada@example.test' });
    await create('invitations', 'late', { email: 'late@example.test' });
    const read = async (name: string) => (await operator.get(`invitations/${name}`).is(200)).body;
    expect(said(await read('ada'))).toEqual(['Accepted False Pending']);
    await signIn(service, 'ada@example.test');
    const accepted = await read('ada');
    expect(said(accepted)).toEqual(['Accepted True SignedIn']);
    expect(timeOf(accepted, 'Accepted')).toBe(accepted.status.acceptedTimestamp);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Invitation, 'late', ({ spec }) => {
        spec.until = toTimestamp(Date.now() - 1_000);
      }),
    );
    expect(said(await read('late'))).toEqual(['Accepted False Expired']);
  });

  test('a MockMessage is delivered', async () => {
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'mail@example.test' } }).is(200);
    await mailTo(service, 'mail@example.test');
    const { items } = (await service.tab().get('mockmessages').is(200)).body;
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      expect(said(item)).toEqual(['Delivered True Stored']);
      expect(timeOf(item, 'Delivered')).toBe(item.status.sentTimestamp);
    }
  });

  test('a passkey added after a sign-in by mail reaches full strength at its time', async () => {
    const { tab } = await signIn(service, 'key@example.test');
    const { body } = await (await register(service, tab)).answer.is(201);
    expect(said(body)).toEqual(['FullStrength False Waiting']);
    const { name } = body.metadata;
    const watch = await new Stream(
      operator,
      `passkeys?watch=true&fieldSelector=metadata.name%3D${name}`,
    ).until(({ events }) => events.length === 1);
    const full = Date.parse(body.status.fullStrengthTimestamp);
    clock.advance(full - Date.now() - hour);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Passkey, name, ({ spec }) => {
        spec.displayName = 'Early';
      }),
    );
    await watch.until(({ events }) => events.length === 2);
    expect(said(watch.events[1]!.object)).toEqual(['FullStrength False Waiting']);
    clock.advance(hour);
    const replica = await service.replica(); // looks at what is due by the moved clock
    await watch.until(({ events }) => events.length === 3);
    await replica.stop();
    expect(said(watch.events[2]!.object)).toEqual(['FullStrength True Counts']);
    expect(timeOf(watch.events[2]!.object, 'FullStrength') >= body.status.fullStrengthTimestamp) //
      .toBe(true);
    watch.close();
  });
});
