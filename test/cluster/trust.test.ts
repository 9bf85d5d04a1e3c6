import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { CertificatePair } from '../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { type Aggregated, API, aggregate } from '../support/cluster/aggregated.js';
import { authority, certificate, master, proxyOf } from '../support/cluster/frontproxy.js';
import { clientAuth } from '../support/cluster/issue-certificate.js';
import { eventually, KubeAPIServer, userOf } from '../support/cluster/kubeapiserver.js';
import { expectFor } from '../support/expect-for.js';
import { Tab } from '../support/people/tab.js';
import { stopAll } from '../support/service.js';

jest.setTimeout(300_000);

const plain = { plain: true } as const;
const configMap = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

let cluster: KubeAPIServer;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
});
afterAll(async () => {
  await cluster?.stop();
  await stopAll();
});

/** Whom it believes, where the cluster says whom to: the ConfigMap is the API server's own. */
describe.each(['embedded', 'etcd'] as const)(
  'what a real cluster says of its front proxy, on %s',
  (store) => {
    let it: Aggregated;
    beforeAll(async () => {
      it = await aggregate(cluster, { store });
      await it.available();
    });
    afterAll(async () => {
      await it?.leave();
    });

    /** Who connects to the secure port itself and says to be an administrator. */
    const spoof = async (pair: CertificatePair | undefined): Promise<number> => {
      const tab = new Tab(`https://localhost:${it.ports[0]}`, it.replicas[0]!.baseURL);
      tab.tls = { ca: it.ca, ...pair };
      tab.headers = { ...master };
      return (await tab.get(`${API}/groups`, plain)).code;
    };

    /** How often the API server has taken over what its front proxy proves itself by. */
    const loaded = (): number =>
      cluster.log
        .split('\n')
        .filter((line) => /Loaded a new cert\/key pair.*aggregator-proxy-cert/.test(line)).length;

    test('a caller that claims to be the front proxy without its certificate is refused', async () => {
      const { authority: front, proxy } = cluster.front;
      const shown: Record<string, CertificatePair | undefined> = {
        none: undefined,
        'of another authority of that name': proxyOf(authority('front-proxy')),
        'of the authority of users': certificate('front-proxy-client', cluster.clients, {
          usages: [clientAuth],
        }),
        'of an administrator': userOf(cluster.clients, 'admin'),
        'with another name': certificate('someone', front, { usages: [clientAuth] }),
        'for servers alone': certificate('front-proxy-client', front, { usages: [1] }),
        expired: proxyOf(front, { from: Date.now() - 7_200_000, until: Date.now() - 3_600_000 }),
      };
      for (const [which, pair] of Object.entries(shown)) {
        expectFor(which, await spoof(pair)).toEqual(401);
      }
      expect(await spoof(proxy)).toBe(200);
    });

    test('what a user of the cluster says of themselves on the way is not believed', async () => {
      const ada = cluster.as('ada');
      ada.headers = { ...ada.headers, ...master };
      expect((await ada.get(`${API}/groups`, plain)).code).toBe(403);
      const clerk = cluster.as('clerk');
      clerk.headers = { ...clerk.headers, ...master };
      expect((await clerk.get(`${API}/groups`, plain)).code).toBe(403);
      expect(
        it
          .audited()
          .filter(
            ({ user }) => user.username === 'root' && user.groups.includes('system:authenticated'),
          )
          .map(({ responseStatus }) => responseStatus.code),
      ).toEqual([200]); // the one right above
    });

    test('a new authority is adopted, and no request is refused in between', async () => {
      const [before, after] = [cluster.front, authority('front-proxy-next')];
      const next = { authority: after, proxy: proxyOf(after) };
      const codes = new Set<number>();
      const over = new AbortController();
      const asking = (async () => {
        while (!over.signal.aborted) {
          codes.add((await cluster.as('admin').get(`${API}/groups`, plain)).code);
        }
      })();
      try {
        cluster.believe(`${before.authority.cert}${after.cert}`);
        await eventually(
          () => spoof(next.proxy),
          (code) => code === 200,
        );
        expect(await spoof(before.proxy)).toBe(200);
        const [taken, read] = [loaded(), it.audited().length];
        cluster.prove(next);
        await eventually(
          async () => loaded(),
          (count) => count > taken,
        );
        await eventually(
          async () => it.audited().length,
          (count) => count > read + 50,
        );
        cluster.believe(after.cert);
        // the API server keeps what the ConfigMap says already beside the new: the former goes when
        // it is made again
        const renewed = async (): Promise<number> => {
          await cluster.as('admin').delete(configMap, plain);
          await eventually(
            () => cluster.as('admin').get(configMap, plain),
            ({ code }) => code === 200,
          );
          await new Promise((resolve) => {
            setTimeout(resolve, 1_000);
          });
          return spoof(before.proxy);
        };
        await eventually(renewed, (code) => code === 401);
        expect(await spoof(next.proxy)).toBe(200);
      } finally {
        over.abort();
        await asking;
      }
      expect([...codes]).toEqual([200]);
      await it.available();
      expect((await cluster.as('admin').get(`${API}/groups`, plain)).code).toBe(200);
    });
  },
);
