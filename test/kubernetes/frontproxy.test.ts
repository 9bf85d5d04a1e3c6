import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CertificatePair } from '../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import {
  authority,
  certificate,
  type Fronted,
  saying,
  startFronted,
} from '../support/cluster/frontproxy.js';
import { clientAuth } from '../support/cluster/issue-certificate.js';
import { expectFor } from '../support/expect-for.js';
import { Stream } from '../support/network/stream.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

const plain = { plain: true } as const;
const API = '/apis/id.vestibule.org/v1beta1';

/** As kube-apiserver forwards what its users ask (docs/design/kubernetes.md#front-proxy). */
describe.each(stores)('through a cluster, on %s', (store) => {
  let front: Fronted;
  const shown: Record<string, CertificatePair | undefined> = {};
  beforeAll(async () => {
    front = await startFronted({ store });
    await createClient(front.service, 'app');
    Object.assign(shown, {
      none: undefined,
      'a client-CA one': certificate('front-proxy-client', authority('kubernetes'), {
        usages: [clientAuth],
      }),
      'the proxy’s': front.proxy,
    });
  });
  const root = (pair: CertificatePair | undefined): Tab =>
    front.caller(pair, {
      ...saying(
        'kubernetes-admin',
        'kubeadm:cluster-admins',
        'system:masters',
        'system:authenticated',
      ),
      'X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id': 'X509SHA256=00',
      'audit-id': 'a-1',
    });

  test('X-Remote-User is ignored with no certificate and with one of the client CA', async () => {
    const codes: Record<string, number> = {};
    for (const [which, pair] of Object.entries(shown)) {
      codes[which] = (await root(pair).get(`${API}/clients`, plain)).code;
    }
    expect(codes).toEqual({ none: 401, 'a client-CA one': 401, 'the proxy’s': 200 });
    for (const one of Object.values(shown).slice(0, 2)) {
      await root(one).get(`${API}/policies`, plain).is(200); // as anyone may
    }
    expect(
      (
        await root(front.proxy)
          .post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, plain)
          .is(201)
      ).body.status.userInfo,
    ).toEqual({
      username: 'kubernetes-admin',
      groups: ['kubeadm:cluster-admins', 'system:masters', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=00'] },
    });
  });

  test('an operator of the cluster creates, changes, watches and deletes', async () => {
    const tab = root(front.proxy);
    const stream = await new Stream(tab, `${API}/groups?watch=true&allowWatchBookmarks=true`).until(
      ({ code }) => code === 200,
    );
    await tab
      .post(
        `${API}/groups?fieldManager=kubectl-create&fieldValidation=Strict`,
        { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } },
        plain,
      )
      .is(201);
    expect(
      (
        await tab
          .patch(`${API}/groups/staff`, { spec: { displayName: 'All staff' } }, plain)
          .is(200)
      ).headers['audit-id'],
    ).toBe('a-1');
    await tab
      .delete(`${API}/groups/staff`, {
        ...plain,
        headers: { 'content-type': 'application/json' },
        body: '{"propagationPolicy":"Background"}',
      })
      .is(200);
    await stream.until(({ events }) => events.length === 3);
    expect(stream.events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    stream.close();
  });

  test('another user of the cluster passes its own gate alone', async () => {
    const user = front.caller(front.proxy, saying('ada', 'system:authenticated'));
    expect((await user.get(`${API}/groups`, plain).fails(403, 'Forbidden')).message).toContain(
      'User "ada" cannot list resource "groups" in API group "id.vestibule.org" at the cluster scope',
    );
    for (const name of ['system:kube-aggregator', 'system:aggregator']) {
      const aggregator = front.caller(front.proxy, saying(name, 'system:masters'));
      for (const path of [
        '/apis',
        API,
        '/openapi/v3',
        '/openapi/v3/apis/id.vestibule.org/v1beta1',
      ]) {
        const { headers } = await aggregator.get(path, plain).is(200);
        await aggregator
          .get(path, { plain: true, headers: { 'if-none-match': headers.etag } })
          .is(304);
      }
    }
    await front.caller(front.proxy).get(API, plain).is(200);
  });

  test('the garbage collector reads metadata, and nothing more', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const collector = front.caller(
      front.proxy,
      saying(
        'system:serviceaccount:kube-system:generic-garbage-collector',
        'system:serviceaccounts',
      ),
    );
    for (const { name, verbs } of (await collector.get(API, plain).is(200)).body.resources.filter(
      (resource: { name: string; verbs: string[] }) =>
        !resource.name.includes('/') &&
        resource.verbs.includes('delete') &&
        resource.verbs.includes('list'),
    )) {
      expectFor(name, [
        verbs.includes('watch'),
        (await collector.get(`${API}/${name}`, { plain: true, headers: { accept } })).code,
        (await collector.get(`${API}/${name}`, plain)).code,
      ]).toEqual([true, 200, name === 'mockmessages' ? 200 : 403]); // Anyone reads these.
    }
  });
});
