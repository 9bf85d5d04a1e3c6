import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { prefixRange } from '../../../storage/storage.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { until as comesToHold } from '../../support/patience.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('events about an object, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  let account: string;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags:
        '--limit-factor 1000 --operators op@example.test --limits-decisions-per-account 100 --limits-recorded-refusals 200'.split(
          ' ',
        ),
    });
    for (const name of ['app', 'bank']) await createClient(service, name);
    await createClient(service, 'mailer', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'email', required: false },
      ],
    });
    operator = (await signIn(service, 'op@example.test')).tab;
    const standing = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const rules = [
      '@id("bank-staff") @message("Only staff.")',
      'forbid (principal, action == Action::"signIn", resource == Client::"bank");',
      '@id("no-mail") @message("Not the address.")',
      'forbid (principal, action == Action::"share", resource == Scope::"email")',
      'when { context.client == Client::"mailer" };',
    ].join('\n');
    await operator.post('policies', { spec: { cedar: `${standing}\n${rules}` } }).is(201);
    person = (await signIn(service, 'ada@example.test')).tab;
    account = (await person.get('accounts/~').is(200)).body.metadata.name;
  });

  const path = (kind: string, name: string): string =>
    `/api/v1/events?${new URLSearchParams({
      fieldSelector: Object.entries({ uid: 'u-1', name, namespace: '', kind })
        .map(([field, value]) => `involvedObject.${field}=${value}`)
        .join(','),
      limit: '500',
    }).toString()}`;
  const eventsOf = async (kind: string, name: string, tab = operator): Promise<any[]> =>
    (await tab.get(path(kind, name)).is(200)).body.items;
  const refuse = async (email: string): Promise<void> => {
    const begun = await begin(service, { client: 'bank' });
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email } }).is(200);
    const { code } = await mailTo(service, email);
    await service.tab().delete('mockmessages').is(200);
    await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
      .fails(403, 'Forbidden');
  };

  test('are the refusals about it, as core/v1 Events, the newest first', async () => {
    expect(await eventsOf('Client', 'bank')).toEqual([]);
    await refuse('ada@example.test');
    await comesToHold(async () => (await eventsOf('Client', 'bank')).length === 1);
    const { body } = await operator.get(path('Client', 'bank')).is(200);
    expect(body).toMatchObject({ kind: 'EventList', apiVersion: 'v1' });
    const [event] = body.items;
    expect(event).toMatchObject({
      metadata: { namespace: 'default', name: expect.stringContaining(`${account}-`) },
      involvedObject: { apiVersion: 'id.vestibule.org/v1beta1', kind: 'Client', name: 'bank' },
      type: 'Warning',
      reason: 'Refused',
      source: { component: 'vestibule' },
      count: 1,
    });
    expect(event.message).toContain('may not signIn: Only staff. (bank-staff)');
    await person.delete('clients/bank').fails(404, 'NotFound');
    await comesToHold(async () => (await eventsOf('Client', 'bank')).length === 2);
    const [newest] = await eventsOf('Client', 'bank');
    expect(newest.message).toContain(`Account::"${account}" may not delete:`);
  });

  test('of a scope that was not shared, about the Client, counted in one event', async () => {
    for (let i = 0; i < 2; i += 1) {
      await signIn(service, 'ada@example.test', { client: 'mailer', scope: 'openid email' });
    }
    await comesToHold(async () =>
      (await eventsOf('Client', 'mailer')).some(({ message }) =>
        message.includes('may not share email'),
      ),
    );
    const shared = (await eventsOf('Client', 'mailer')).filter(({ message }) =>
      message.includes('may not share email: Not the address. (no-mail)'),
    );
    expect(shared).toHaveLength(1);
  });

  test('are shown to those who may see the decisions', async () => {
    await signIn(service, 'eve@example.test');
    await refuse('ada@example.test');
    await refuse('eve@example.test');
    const isOwn = ({ metadata }: any): boolean => metadata.name.includes(account);
    await comesToHold(async () => {
      const all = await eventsOf('Client', 'bank');
      return all.some(isOwn) && !all.every(isOwn);
    });
    const own = await eventsOf('Client', 'bank', person);
    const all = await eventsOf('Client', 'bank');
    expect(own).toEqual(all.filter(isOwn));
    const spec = { displayName: 'Auditors', members: ['auditor@example.test'] };
    await operator.post('groups', { metadata: { name: 'auditors' }, spec }).is(201);
    const { items } = (await operator.get('policies').is(200)).body;
    const standing = items.find(({ status }: any) => status.inForce).spec.cedar;
    const rule = `@id("audit") @message("Auditors read the decisions of others.")
permit (principal in Group::"auditors", action in Action::"read", resource is PolicyDecision)
when { resource has owner && resource.owner != Account::"${account}" };`;
    await operator.post('policies', { spec: { cedar: `${standing}\n${rule}` } }).is(201);
    const auditor = (await signIn(service, 'auditor@example.test')).tab;
    const others = (await eventsOf('Client', 'bank', auditor)).map(({ metadata }) => metadata.name);
    expect(others).toEqual(all.filter((one) => !isOwn(one)).map(({ metadata }) => metadata.name));
    await service.tab().get(path('Client', 'bank')).fails(401, 'Unauthorized');
  });

  test('are watched from a version on or from the beginning', async () => {
    const watch = (tab: Tab, query: string, base = path('Client', 'bank')): Stream =>
      new Stream(tab, `${base}${base.includes('?') ? '&' : '?'}watch=true&${query}`);
    const all = '/api/v1/namespaces/default/events';
    const { resourceVersion } = (await operator.get(path('Client', 'bank')).is(200)).body.metadata;
    const from = `resourceVersion=${resourceVersion}&allowWatchBookmarks=true`;
    const own = watch(operator, from);
    const any = watch(operator, from, all);
    const ofPerson = watch(person, from);
    const ofOther = watch(operator, from, path('Client', 'app'));
    await refuse('ada@example.test');
    await person.delete('clients/app').fails(404, 'NotFound');
    await person.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
    for (const [stream, names] of [
      [own, ['bank']],
      [any, ['app', 'bank']],
      [ofPerson, ['bank']],
      [ofOther, ['app']],
    ] as const) {
      await stream.until(({ events }) => events.length >= names.length);
      expect(stream.events.map(({ object }) => object.involvedObject.name).sort()).toEqual(names);
    }
    expect(own.events[0]).toMatchObject({
      type: 'ADDED',
      object: {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { namespace: 'default', name: expect.stringContaining(`${account}-`) },
        reason: 'Refused',
        message: expect.stringContaining('may not signIn: Only staff. (bank-staff)'),
      },
    });
    const { items } = (await operator.get(path('Client', 'bank')).is(200)).body;
    expect(own.events[0]!.object.metadata).toEqual(items[0].metadata);
    const initial =
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const begun = watch(operator, initial, all);
    await begun.until(({ events }) => events.at(-1)?.type === 'BOOKMARK');
    const bookmark = begun.events.pop()!.object;
    expect([bookmark.kind, bookmark.apiVersion]).toEqual(['Event', 'v1']);
    const uidsOf = (name?: string): string[] =>
      begun.events
        .filter(({ object }) => object.involvedObject.name === name)
        .map(({ object }) => object.metadata.uid)
        .sort();
    expect(uidsOf('bank')).toEqual(items.map(({ metadata }: any) => metadata.uid).sort());
    expect(uidsOf()).toEqual([]);
    for (const stream of [own, any, ofPerson, ofOther, begun]) stream.close();
    await service.tab().get(`${all}?watch=true`).fails(401, 'Unauthorized');
    await operator.get(`${all}?watch=true&resourceVersion=x`).fails(422, 'Invalid');
  });

  test('are selected by each field of Kubernetes, in a list and in a watch', async () => {
    await person.delete('clients/mailer').fails(404, 'NotFound');
    await comesToHold(async () =>
      (await eventsOf('Client', 'mailer')).some(({ message }) => message.includes('not delete')),
    );
    const all: any[] = (await operator.get('/api/v1/events').is(200)).body.items;
    const { name } = all[0].metadata;
    const of = (test: (event: any) => boolean) => all.filter(test).map(uidOf).sort();
    const uidOf = (event: any): string => event.metadata.uid;
    const every = () => true;
    const none = () => false;
    for (const [fieldSelector, test, labelSelector = ''] of [
      ['type=Warning', every],
      ['type!=Warning', none],
      ['type=Normal', none],
      ['reason==Refused,type=Warning', every],
      ['reason=Other', none],
      ['involvedObject.kind=Client', every],
      ['involvedObject.kind!=Client', none],
      ['involvedObject.kind=Clie', none],
      ['involvedObject.name=mailer', ({ involvedObject }) => involvedObject.name === 'mailer'],
      ['involvedObject.name!=mailer', ({ involvedObject }) => involvedObject.name !== 'mailer'],
      ['involvedObject.namespace=', every],
      ['involvedObject.namespace=default', none],
      ['involvedObject.apiVersion=id.vestibule.org/v1beta1', every],
      ['source=vestibule,reportingComponent=vestibule', every],
      ['metadata.namespace=default', every],
      [`metadata.name=${name}`, (event) => event.metadata.name === name],
      ['', none, 'a=b'],
      ['', every, '!a'],
    ] as [string, (event: any) => boolean, string?][]) {
      const query = new URLSearchParams({ fieldSelector, labelSelector }).toString();
      const { items } = (await operator.get(`/api/v1/events?${query}`).is(200)).body;
      const expected = of((event) => event.involvedObject.kind === 'Client' && test(event));
      expectFor(fieldSelector, items.map(uidOf).sort()).toEqual(expected);
      for (const at of [
        `/api/v1/events?watch=true&${query}`,
        `/api/v1/watch/events?${query}`,
        `/api/v1/watch/namespaces/default/events?${query}`,
      ]) {
        const stream = await new Stream(operator, `${at}&timeout=100ms`).until(
          ({ ended }) => ended,
        );
        const sent = stream.events.map(({ object }) => uidOf(object)).sort();
        expectFor(at, sent).toEqual(expected);
      }
    }
  });

  test('are found behind hundreds of others', async () => {
    await person.delete('clients/app').fails(404, 'NotFound');
    const unseen: string[] = [];
    for (const one of ['flo', 'gus', 'hal']) {
      const { tab } = await signIn(service, `${one}@example.test`);
      const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
      unseen.push(`resource.owner != Account::"${name}"`);
      for (let i = 0; i < 90; i += 1) await tab.delete('clients/app').fails(404, 'NotFound');
    }
    const countOf = async (): Promise<number> =>
      (await service.store.storage.list(prefixRange('events/Client/app/'))).entries.length;
    await comesToHold(async () => (await countOf()) > 270);
    const spec = { displayName: 'Others', members: ['other@example.test'] };
    await operator.post('groups', { metadata: { name: 'others' }, spec }).is(201);
    const { items } = (await operator.get('policies').is(200)).body;
    const standing = items.find(({ status }: any) => status.inForce).spec.cedar;
    const rule = `@id("others") @message("Some people’s.")
permit (principal in Group::"others", action in Action::"read", resource is PolicyDecision)
when { resource has owner && ${unseen.join(' && ')} };`;
    await operator.post('policies', { spec: { cedar: `${standing}\n${rule}` } }).is(201);
    const other = (await signIn(service, 'other@example.test')).tab;
    const isOwn = (name: string): boolean => name.startsWith(`${account}-`);
    const namesOf = async (tab: Tab, fieldSelector: string): Promise<string[]> => {
      const query = new URLSearchParams({ fieldSelector }).toString();
      const { body } = await tab.get(`/api/v1/events?${query}`).is(200);
      return body.items.map(({ metadata }: any) => metadata.name);
    };
    const about = 'involvedObject.kind=Client,involvedObject.name=app';
    const newest = await namesOf(operator, about);
    expect([newest.length, newest.filter(isOwn)]).toEqual([100, []]);
    const name = (await namesOf(person, about)).find(isOwn)!;
    for (const [tab, fieldSelector] of [
      [person, about],
      [person, 'involvedObject.kind=Client'],
      [person, ''],
      [other, about],
      [other, ''],
      [operator, `${about},metadata.name=${name}`],
      [operator, `metadata.name=${name}`],
    ] as const) {
      const found = await namesOf(tab, fieldSelector);
      expectFor(fieldSelector, [found.length <= 100, found]).toEqual([
        true,
        expect.arrayContaining([name]),
      ]);
    }
  });

  test('refuse what is not such a list', async () => {
    await operator.post('/api/v1/events', {}).fails(405, 'MethodNotAllowed');
    await operator.get('/api/v1/namespaces/other/events').fails(404, 'NotFound');
    expect(await eventsOf('Client', 'absent')).toEqual([]);
    for (const fieldSelector of ['spec.x=y', 'reason', 'metadata.name=%', 'x'.repeat(5_000)]) {
      for (const more of ['', '&watch=true']) {
        await operator
          .get(`/api/v1/events?${new URLSearchParams({ fieldSelector })}${more}`)
          .fails(400, 'BadRequest');
      }
    }
    for (const [kind, name] of [
      ['Client', '%'],
      ['Client', '..'],
      ['Client', 'a/b'],
      ['Client', 'x'.repeat(3_000)],
      ['Cli/ent', 'bank'],
      ['x'.repeat(3_000), 'bank'],
    ] as const) {
      expect(await eventsOf(kind, name)).toEqual([]);
    }
  });

  test('go with their decisions: by eviction and with the account', async () => {
    const keysOf = async (): Promise<string[]> =>
      (await service.store.storage.list(prefixRange('events/'))).entries
        .filter(({ value }) => value.toString().startsWith(account))
        .map(({ value }) => value.toString())
        .sort();
    const refusals = async (): Promise<string[]> =>
      (await service.store.reader(PolicyDecision).list(account))
        .filter(({ status }) => !status.allowed)
        .map(({ metadata }) => metadata.name)
        .sort();
    /** Refusals are written in the background, so that one may come between the two reads. */
    const keysAreThoseOfRefusals = () =>
      comesToHold(async () => JSON.stringify(await keysOf()) === JSON.stringify(await refusals()));
    const former = (await refusals()).length;
    for (let i = 0; i < 2; i += 1) await person.delete('clients/bank').fails(404, 'NotFound');
    await comesToHold(async () => (await keysOf()).length >= former + 2);
    await keysAreThoseOfRefusals();
    const before = await keysOf();
    for (let i = 0; i < 110; i += 1) {
      await person.patch('accounts/~', { spec: { displayName: `Name ${i}` } }).is(200);
    }
    expect((await keysOf()).length).toBeLessThan(before.length);
    await keysAreThoseOfRefusals();
    await person.delete('clients/bank').fails(404, 'NotFound');
    await comesToHold(async () => (await keysOf()).length > 0);
    await person.delete('accounts/~').is(200);
    await comesToHold(async () => (await keysOf()).length === 0);
  });
});
