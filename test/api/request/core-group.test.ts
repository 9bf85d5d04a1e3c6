import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import { startWithOperator } from '../../support/people/operator.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const base = '/api/v1/namespaces';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe.each(stores)('what Kubernetes’ clients look for in the core group, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let token: string;
  beforeAll(async () => {
    ({ service, operator, token } = await startWithOperator({ store, quickDecisions: true }));
    await operator
      .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
      .is(201);
  });
  afterAll(stopAll);

  /** The callers who may read discovery: everyone. */
  const callers = () =>
    [
      [service.tab(), {}],
      [service.tab(), { authorization: `Bearer ${token}` }],
      [operator, undefined],
    ] as const;

  test('is v1 with namespaces and events; our kinds are of our group', async () => {
    for (const [tab, headers] of callers()) {
      const init = headers ? { plain: true, headers } : {};
      const { versions, groupVersions } = (await tab.get('/api', init).is(200)).body;
      expect([versions, groupVersions]).toEqual([
        ['v1'],
        ['id.vestibule.org/v1beta1', 'id.vestibule.org/v1alpha1'],
      ]);
      for (const path of ['/api/v1', '/api/v1/']) {
        const { body } = await tab.get(path, init).is(200);
        expect([body.kind, body.groupVersion, body.resources]).toEqual([
          'APIResourceList',
          'v1',
          [
            {
              name: 'namespaces',
              singularName: 'namespace',
              namespaced: false,
              kind: 'Namespace',
              verbs: ['get', 'list', 'watch'],
              shortNames: ['ns'],
            },
            {
              name: 'events',
              singularName: 'event',
              namespaced: true,
              kind: 'Event',
              verbs: ['list', 'watch'],
              shortNames: ['ev'],
            },
          ],
        ]);
      }
    }
  });

  test('has one namespace, which is read and never changed', async () => {
    for (const [tab, headers] of callers()) {
      const init = headers ? { plain: true, headers } : {};
      const one = (await tab.get(`${base}/default`, init).is(200)).body;
      expect(one).toMatchObject({
        kind: 'Namespace',
        apiVersion: 'v1',
        status: { phase: 'Active' },
      });
      const list = (await tab.get(base, init).is(200)).body;
      expect([list.kind, list.metadata, list.items]).toEqual([
        'NamespaceList',
        { resourceVersion: '1' },
        [one],
      ]);
    }
    const { message } = await operator.get(`${base}/other`).fails(404, 'NotFound');
    expect(message).toBe('namespaces "other" not found');
    for (const [query, count] of [
      ['fieldSelector=metadata.name%3Ddefault', 1],
      ['fieldSelector=metadata.name%3Dother', 0],
      ['labelSelector=kubernetes.io/metadata.name%3Ddefault', 1],
      ['labelSelector=a', 0],
      ['limit=500', 1],
      ['resourceVersion=0', 1],
    ] as const) {
      expectFor(query, (await operator.get(`${base}?${query}`).is(200)).body.items.length).toEqual(
        count,
      );
    }
    await operator.get(`${base}?fieldSelector=x%3Dy`).fails(400, 'BadRequest');
    for (const [method, path] of [
      ['POST', base],
      ['PUT', `${base}/default`],
      ['PATCH', `${base}/default`],
      ['DELETE', `${base}/default`],
      ['DELETE', base],
    ] as const) {
      await operator.send(method, path).fails(405, 'MethodNotAllowed');
    }
    for (const path of [`${base}/`, `${base}/default/`, `${base}/default/pods`, `${base}/%2e`]) {
      await operator.get(path).fails(404, 'NotFound');
    }
    await operator.get(base, { headers: { accept: `${table},application/json` } }).is(200);
    await operator.get(base, { headers: { accept: table } }).fails(406, 'NotAcceptable');
  });

  test('lets the namespaces be watched, which sends what exists and then nothing', async () => {
    const match = 'resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    for (const [path, events] of [
      [`${base}?watch=1`, ['ADDED']],
      [`${base}/default?watch=1`, ['ADDED']],
      ['/api/v1/watch/namespaces?', ['ADDED']],
      ['/api/v1/watch/namespaces/default?', ['ADDED']],
      ['/api/v1/watch/namespaces/other?', []],
      [`${base}/other?watch=1`, []],
      [`${base}?watch=1&fieldSelector=metadata.name%3Dother`, []],
      [`${base}?watch=1&resourceVersion=1`, []],
      [`${base}?watch=1&sendInitialEvents=true&${match}`, ['ADDED', 'BOOKMARK']],
    ] as const) {
      const stream = await new Stream(
        service.tab(),
        `${path}&timeout=100ms`,
        'application/json',
        token,
      ).until(({ ended }) => ended);
      expectFor(path, [stream.code, stream.clean, stream.events.map(({ type }) => type)]).toEqual([
        200,
        true,
        events,
      ]);
    }
    const { watchesPerSession } = service.store.settings.limits;
    const open = Array.from(
      { length: watchesPerSession + 1 },
      () => new Stream(service.tab(), `${base}?watch=true`),
    );
    await Promise.all(open.map((one) => one.until(({ code }) => code > 0)));
    expect(open.map(({ code }) => code).sort((a, b) => a - b)).toEqual([
      ...Array.from({ length: watchesPerSession }, () => 200),
      429,
    ]);
    for (const one of open) one.close();
  });

  test('watches by the older paths, too', async () => {
    for (const mount of ['/api/v1beta1/', '/apis/id.vestibule.org/v1beta1/']) {
      for (const path of ['watch/groups', 'watch/groups/staff', 'watch/groups?watch=false']) {
        const stream = await new Stream(
          service.tab(),
          mount + path,
          'application/json',
          token,
        ).until(({ events, ended }) => ended || events.length > 0);
        expectFor(path, [stream.code, stream.events[0]?.object.metadata.name]).toEqual([
          200,
          'staff',
        ]);
        stream.close();
      }
    }
    await operator.get('watch').fails(404, 'NotFound');
    await operator.get('watch/unknown').fails(404, 'NotFound');
    await operator.get('watch/watch/groups/staff/more').fails(404, 'NotFound');
    await operator.delete('watch/groups').fails(404, 'NotFound');
    await service.tab().get('watch/groups').fails(401, 'Unauthorized');
  });

  test('lists the events about any object, to those who may see the decisions', async () => {
    const { tab: ada } = await signIn(service, 'ada@example.test');
    const { tab: eve } = await signIn(service, 'eve@example.test');
    for (const tab of [ada, eve]) await tab.delete('clients/app').fails(404, 'NotFound');
    await ada.delete('groups/staff').fails(404, 'NotFound');
    const path = '/api/v1/namespaces/default/events';
    const of = async (tab: Tab): Promise<string[]> =>
      (await tab.get(`${path}?limit=500`).is(200)).body.items.map(
        ({ involvedObject: { kind, name } }: any) => `${kind} ${name}`,
      );
    await until(async () => (await of(operator)).length >= 3);
    expect((await of(operator)).filter((one) => one === 'Client app')).toHaveLength(2);
    expect(await of(ada)).toEqual(['Group staff', 'Client app']);
    expect(await of(eve)).toEqual(['Client app']);
    expect(await (await operator.get('/api/v1/events').is(200)).body.items.length).toBe(
      (await of(operator)).length,
    );
    await service.tab().get(path).fails(401, 'Unauthorized');
  });
});
