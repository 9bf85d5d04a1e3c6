import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { kinds } from '../../../kinds/index.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('field selectors, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    for (const name of ['app', 'bank']) await createClient(service, name);
    operator = (await signIn(service, 'op@example.test')).tab;
    await signIn(service, 'ada@example.test', { client: 'bank' });
    for (const name of ['ada', 'bob', 'late']) {
      await operator
        .post('invitations', { metadata: { name }, spec: { email: `${name}-x@example.test` } })
        .is(201);
    }
  });
  const list = async (resource: string, selector: string, tab = operator): Promise<any[]> =>
    (await tab.get(`${resource}?fieldSelector=${encodeURIComponent(selector)}`).is(200)).body.items;
  const namesIn = (items: readonly any[]): string[] => items.map(({ metadata }) => metadata.name);

  test('select by what a kind declares, and by what it is not', async () => {
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    await operator.post('policies', { spec }).is(201);
    expect(namesIn(await list('policies', 'status.inForce=true'))).toEqual(['p-2']);
    expect(namesIn(await list('policies', 'status.inForce!=true'))).toEqual(['p-1']);
    expect(namesIn(await list('policies', 'status.inForce==false'))).toEqual(['p-1']);
    const grants = await list('grants', 'status.client.name=bank');
    expect(grants.map(({ status }) => status.client.name)).toEqual(['bank']);
    const others = await list('grants', 'status.client.name!=bank');
    expect([...new Set(others.map(({ status }) => status.client.name))]).toEqual(['app']);
    const sent = await list('mockmessages', 'status.to=ada-x@example.test');
    expect(sent.map(({ status }) => status.to)).toEqual(['ada-x@example.test']);
    expect(await list('recoveries', 'status.phase=Waiting')).toEqual([]);
    const [own] = await list('policydecisions', 'spec.action=signIn,spec.resource.name=bank');
    expect(own.spec.resource).toMatchObject({ kind: 'Client', name: 'bank' });
  });

  test('of a field that is computed, by the value that is shown', async () => {
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Invitation, 'late', ({ spec }) => {
        spec.until = toTimestamp(Date.now() - 1_000);
      }),
    );
    expect(namesIn(await list('invitations', 'status.phase=Expired'))).toEqual(['late']);
    expect(namesIn(await list('invitations', 'status.phase=Pending'))).toEqual(['ada', 'bob']);
  });

  test('in pages, with a remaining filter for each page', async () => {
    const first = await operator
      .get('invitations?limit=1&fieldSelector=status.phase%3DPending')
      .is(200);
    expect(namesIn(first.body.items)).toEqual(['ada']);
    const next = encodeURIComponent(first.body.metadata.continue);
    const second = await operator
      .get(`invitations?limit=1&fieldSelector=status.phase%3DPending&continue=${next}`)
      .is(200);
    expect(namesIn(second.body.items)).toEqual(['bob']);
    expect(second.body.metadata.continue).toBeUndefined();
  });

  test('a watch lets an object go when it does not match any more', async () => {
    const watch = await new Stream(
      operator,
      'invitations?watch=true&fieldSelector=status.phase%3DPending',
    ).until(({ events }) => events.length === 2);
    await signIn(service, 'bob-x@example.test');
    await watch.until(({ events }) => events.length === 3);
    expect(watch.events[2]).toMatchObject({
      type: 'DELETED',
      object: { metadata: { name: 'bob' } },
    });
    watch.close();
  });

  test('are declared in the OpenAPI document, with paths of the kind’s schema', async () => {
    const { schemas } = (await operator.get('/api/openapi/v3').is(200)).body.components;
    const selectable = (kind: string): string[] =>
      (schemas[kind]['x-kubernetes-selectable-fields'] ?? []).map((one: any) => one.fieldPath);
    expect(selectable('Policy')).toEqual(['status.inForce']);
    expect(selectable('Grant')).toEqual(['status.account', 'status.client.name']);
    for (const { kind } of kinds) {
      for (const path of selectable(kind).filter((one) => one !== 'metadata.name')) {
        const [part, ...fields] = path.split('.');
        let schema = schemas[kind].properties[part!];
        for (const field of fields) schema = (schema.items ?? schema).properties[field];
        expectFor(path, typeof schema).toEqual('object');
      }
    }
  });

  test('show no one what they may not see', async () => {
    const { tab } = await signIn(service, 'eve@example.test');
    expect(await list('grants', 'status.client.name=bank', tab)).toEqual([]);
    expect(namesIn(await list('grants', 'status.client.name=app', tab))).toHaveLength(1);
    const { tab: browser } = await begin(service, { client: 'app' });
    await browser.get('interactions?fieldSelector=spec.client%3Dapp').fails(401, 'Unauthorized');
    expect(
      (await list('interactions', 'spec.client=app')).every(({ spec }) => spec.client === 'app'),
    ).toBe(true);
  });

  test('of an unknown field name the known ones', async () => {
    const { message } = await operator
      .get('grants?fieldSelector=status.client%3Dapp')
      .fails(400, 'BadRequest');
    expect(message).toContain('"metadata.name", "status.account", "status.client.name"');
    await operator.get('grants?fieldSelector=constructor%3Dapp').fails(400, 'BadRequest');
  });
});
