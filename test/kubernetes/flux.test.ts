import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import { exampleFolder, exampleObjects } from '../support/cluster/gitops-example.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The program may have to be built. */
jest.setTimeout(900_000);

const apiVersion = 'id.vestibule.org/v1beta1';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const program = toolProgram('flux-apply');
const withFlux = program === undefined ? test.skip : test;

const group = (name: string, displayName: string): object => ({
  apiVersion,
  kind: 'Group',
  metadata: { name },
  spec: { displayName },
});
const client = (spec: object): object => ({
  apiVersion,
  kind: 'Client',
  metadata: { name: 'flux-app' },
  spec: { displayName: 'By Flux', type: 'Public', ...spec },
});
const redirectURIs = ['https://app.example.test/callback'];

eachKubectl((found) => {
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });

  const file = (name: string, ...objects: object[]): string =>
    operator.file(name, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const flux = async (...files: string[]): Promise<string[]> => {
    const config = join(dirname(file('any')), 'config');
    const { stdout } = await promisify(execFile)(program!, [config, ...files]);
    return stdout.trimEnd().split('\n').sort();
  };

  withFlux(
    'the library of Flux’s kustomize-controller applies, waits, corrects drift and prunes',
    async () => {
      const first = file(
        '1.yaml',
        group('flux-a', 'A'),
        group('flux-b', 'B'),
        client({ redirectURIs }),
      );
      expect(await flux(first)).toEqual([
        'Client/flux-app created',
        'Group/flux-a created',
        'Group/flux-b created',
        'ready',
      ]);
      expect(await flux(first)).toEqual([
        'Client/flux-app unchanged',
        'Group/flux-a unchanged',
        'Group/flux-b unchanged',
        'ready',
      ]);
      await operator.says(
        'patch',
        'group',
        'flux-a',
        '--type=merge',
        '-p',
        '{"spec":{"displayName":"Drift"}}',
      );
      expect(await flux(first)).toContain('Group/flux-a configured');
      const live = JSON.parse(await operator.says('get', 'group', 'flux-a', '-o', 'json'));
      expect(live.spec.displayName).toBe('A');
      expect(live.metadata.labels).toMatchObject({
        'kustomize.toolkit.fluxcd.io/name': 'vestibule',
      });
      const second = file('2.yaml', group('flux-a', 'A'), client({ redirectURIs }));
      expect(await flux(second, first)).toEqual([
        'Client/flux-app unchanged',
        'Group/flux-a unchanged',
        'Group/flux-b deleted',
        'ready',
      ]);
      const unready = file('3.yaml', client({ redirectURIs: [] }));
      await expect(flux(unready)).rejects.toThrow(/timeout|deadline/);
    },
  );

  withFlux(
    'the fields that Flux applies are kept over a switch of the version, and back',
    async () => {
      const privacy = 'https://app.example.test/privacy';
      const terms = 'https://app.example.test/terms';
      const names = {
        v1alpha1: ['policyURI', 'termsURI'],
        v1beta1: ['privacyPolicyURI', 'termsOfServiceURI'],
      } as const;
      const app = (version: keyof typeof names, ...uris: string[]): string => {
        const fields = Object.fromEntries(uris.map((uri, i) => [names[version][i], uri]));
        const object = client({ redirectURIs, ...fields }) as { metadata: object };
        return file(`${version}-${uris.length}.yaml`, {
          ...object,
          apiVersion: `id.vestibule.org/${version}`,
          metadata: { name: 'flux-switched' },
        });
      };
      const spec = async () =>
        JSON.parse(await operator.says('get', 'client', 'flux-switched', '-o', 'json')).spec;
      const old = app('v1alpha1', privacy, terms);
      expect(await flux(old)).toEqual(['Client/flux-switched created', 'ready']);
      const both = { privacyPolicyURI: privacy, termsOfServiceURI: terms };
      expect(await spec()).toMatchObject(both);
      const next = app('v1beta1', privacy, terms);
      expect(await flux(next, old)).toEqual(['Client/flux-switched unchanged', 'ready']);
      await flux(app('v1beta1', privacy), next);
      expect(await spec()).toMatchObject({ privacyPolicyURI: privacy });
      expect(await spec()).not.toHaveProperty('termsOfServiceURI');
      await flux(old, next);
      expect(await spec()).toMatchObject(both);
    },
  );

  withFlux('the example of Flux is applied and becomes ready', async () => {
    const { Kustomization, GitRepository } = exampleObjects('flux/vestibule.yaml');
    expect(Kustomization.spec).toMatchObject({
      sourceRef: { kind: 'GitRepository', name: GitRepository.metadata.name },
      prune: true,
      wait: true,
    });
    const objects = Object.values(exampleFolder(Kustomization.spec.path)).join('\n---\n');
    expect(await flux(operator.file('example.yaml', objects))).toEqual([
      'Client/wiki created',
      'Group/staff created',
      'ready',
    ]);
  });
}, 'newest');
