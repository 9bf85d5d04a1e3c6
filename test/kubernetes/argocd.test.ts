import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import { exampleFolder, exampleObjects } from '../support/cluster/gitops-example.js';
import { Follower, type Kubectl } from '../support/cluster/kubectl.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The program may have to be built. */
jest.setTimeout(900_000);

let cluster: Cluster;
let argo: ChildProcess | undefined;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterEach(() => {
  argo?.stdin?.end();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const program = toolProgram('argo-apply');
const withArgo = program === undefined ? test.skip : test;
const { spec } = exampleObjects('argo-cd/application.yaml').Application;
const health: string =
  exampleObjects('argo-cd/argocd-cm.yaml').ConfigMap.data[
    'resource.customizations.health.id.vestibule.org_Client'
  ];

eachKubectl((found) => {
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });

  withArgo(
    'the engine of Argo CD synchronizes the example, corrects drift, prunes and shows health',
    async () => {
      expect(spec.syncPolicy.automated).toEqual({ prune: true, selfHeal: true });
      const script = operator.file('health.lua', health);
      const folder = join(dirname(script), 'objects');
      mkdirSync(folder);
      const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
      const files = exampleFolder(spec.source.path);
      for (const [name, text] of Object.entries(files)) write(name, text);
      argo = spawn(program!, [join(dirname(script), 'config'), folder, script, 'Client']);
      const follower = new Follower(argo);
      /** Resolves to what the next synchronization printed. */
      const synchronized = async (): Promise<string[]> => {
        await follower.until((text) => /^Synced$/m.test(text));
        const lines = follower.text.trimEnd().split('\n');
        follower.text = '';
        return lines;
      };

      expect(await synchronized()).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^Client\/wiki Synced: .*created/),
          expect.stringMatching(/^Group\/staff Synced: .*created/),
          'Client/wiki is Healthy',
        ]),
      );

      const drift = '{"spec":{"displayName":"Drift"}}';
      await operator.says('patch', 'group', 'staff', '--type=merge', '-p', drift);
      expect(await synchronized()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^Group\/staff Synced: .*configured/)]),
      );
      expect(
        await operator.says('get', 'group', 'staff', '-o', 'jsonpath={.spec.displayName}'),
      ).toBe('Staff');

      // In the other version it is the same object: applied, not pruned and created again.
      const uid = await operator.says('get', 'client', 'wiki', '-o', 'jsonpath={.metadata.uid}');
      for (const [version, field] of [
        ['v1alpha1', 'policyURI'],
        ['v1beta1', 'privacyPolicyURI'],
      ] as const) {
        const policy = `https://wiki.example.org/${version}`;
        write(
          'wiki.yaml',
          `${files['wiki.yaml']!.replace('/v1beta1', `/${version}`).trimEnd()}\n  ${field}: ${policy}\n`,
        );
        const lines = await synchronized();
        expect(lines).toEqual(
          expect.arrayContaining([expect.stringMatching(/^Client\/wiki Synced: .*configured/)]),
        );
        expect(lines.join()).not.toMatch(/Pruned/);
        expect(
          await operator.says(
            'get',
            'client',
            'wiki',
            '-o',
            'jsonpath={.metadata.uid} {.spec.privacyPolicyURI}',
          ),
        ).toBe(`${uid} ${policy}`);
      }

      write('wiki.yaml', files['wiki.yaml']!.replace(/secretHashes: .*/, 'secretHashes: []'));
      expect(await synchronized()).toContain('Client/wiki is Degraded');

      rmSync(join(folder, 'wiki.yaml'));
      expect(await synchronized()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^Client\/wiki Pruned: /)]),
      );
      expect(await operator.fails('get', 'client', 'wiki')).toContain('NotFound');
    },
  );
}, 'newest');
