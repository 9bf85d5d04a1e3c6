import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { group } from '../library/fixture.js';
import {
  becomes,
  ownWay,
  plain,
  serving,
  start,
  trusting,
  type Way,
} from '../library/wardle/way.js';
import { freePorts } from '../storage/etcd-server.js';
import type { KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import type { Tab } from '../support/people/tab.js';
import { temporary } from '../support/service.js';

/** The folder that `hack/compare-libraries` makes: programs, and manifests of the custom resources. */
const built = process.env.LIBRARIES ?? '';

/** Where the Go programs serve the kinds, and the body of their Fischer. */
const kubernetes = {
  flunders: 'v1beta1/namespaces/default/flunders',
  fischers: 'v1alpha1/fischers',
  fischer: (name: string, disallowedFlunders: readonly string[]) => ({
    apiVersion: `${group}/v1alpha1`,
    kind: 'Fischer',
    metadata: { name },
    disallowedFlunders,
  }),
};

/** Returns the ways, which use a running cluster. */
export async function waysOf(cluster: () => KubeAPIServer): Promise<Way[]> {
  const ports = await freePorts(5);
  return [
    ownWay('This core, embedded', ports[0]!, () => ({ DATA_DIR: temporary() })),
    ownWay('This core, etcd', ports[1]!, () => ({ ETCD_SERVERS: cluster().etcd.endpoint })),
    { name: 'sample-apiserver', ...kubernetes, ...sample(cluster, ports[2]!) },
    { name: 'CRD', ...kubernetes, ...customResources(cluster, ports[3]!, ports[4]!) },
  ];
}

type Program = Pick<Way, 'start' | 'declare' | 'client'>;

/** The certificate as the files that Go programs read. */
function certificateFiles(): string {
  const directory = temporary();
  writeFileSync(join(directory, 'tls.crt'), serving.cert);
  writeFileSync(join(directory, 'tls.key'), serving.key);
  return directory;
}

/** sample-apiserver, which asks the cluster about tokens and rights. */
function sample(cluster: () => KubeAPIServer, port: number): Program {
  const url = `https://127.0.0.1:${port}`;
  return {
    start() {
      const config = cluster().config('admin');
      const directory = certificateFiles();
      return start(
        [
          join(built, 'sample-apiserver'),
          '--etcd-servers',
          cluster().etcd.endpoint,
          '--bind-address=127.0.0.1',
          `--secure-port=${port}`,
          `--tls-cert-file=${directory}/tls.crt`,
          `--tls-private-key-file=${directory}/tls.key`,
          `--kubeconfig=${config}`,
          `--authentication-kubeconfig=${config}`,
          `--authorization-kubeconfig=${config}`,
        ],
        {},
        url,
      );
    },
    client() {
      const tab = trusting(url);
      tab.headers = cluster().as('admin').headers;
      return tab;
    },
  };
}

/** The webhooks of the custom resources, and the declaration that leads the cluster to them. */
function customResources(cluster: () => KubeAPIServer, port: number, probes: number): Program {
  const manifest = (name: string): any => parse(readFileSync(join(built, name), 'utf8'));
  const clientConfig = (path: string): object => ({
    url: `https://127.0.0.1:${port}${path}`,
    caBundle: Buffer.from(serving.cert).toString('base64'),
  });
  return {
    start: () =>
      start(
        [join(built, 'crd'), certificateFiles(), String(port), String(probes)],
        { KUBECONFIG: cluster().config('admin') },
        `http://127.0.0.1:${probes}`,
      ),
    async declare() {
      const admin = cluster().as('admin');
      await declareWebhooks(admin, manifest('manifests.yaml'), clientConfig);
      const kinds = ['flunders', 'fischers'];
      const files = kinds.map((name) => manifest(`wardle.example.com_${name}.yaml`));
      files[0].spec.conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: clientConfig('/convert'), conversionReviewVersions: ['v1'] },
      };
      for (const name of kinds) {
        const path = `${definitions}/${name}.${group}`;
        await admin.delete(path, plain);
        await becomes(404, admin, path);
      }
      const began = performance.now();
      for (const file of files) await admin.post(definitions, file, plain).is(201);
      for (const path of [kubernetes.flunders, kubernetes.fischers]) {
        await becomes(200, admin, `/apis/${group}/${path}`);
      }
      return performance.now() - began;
    },
    client: () => cluster().as('admin'),
  };
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Declares the webhooks that admit objects, with the addresses where they are. */
async function declareWebhooks(
  admin: Tab,
  configuration: any,
  clientConfig: (path: string) => object,
): Promise<void> {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  for (const webhook of configuration.webhooks) {
    webhook.clientConfig = clientConfig(webhook.clientConfig.service.path);
  }
  await admin.delete(`${path}/${configuration.metadata.name}`, plain);
  await admin.post(path, configuration, plain).is(201);
}
