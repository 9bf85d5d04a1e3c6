import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { eachKubectl, openKubernetes, type Cluster } from '../support/cluster.js';
import { exampleFile } from '../support/gitops-example.js';
import { goProgram } from '../support/go-program.js';
import type { Kubectl } from '../support/kubectl.js';
import { stopAll } from '../support/service.js';

/** The program may have to be built. */
jest.setTimeout(900_000);

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const program = goProgram('terraform-apply');
const withTerraform = program === undefined ? test.skip : test;
const configuration = exampleFile('terraform/main.tf');

eachKubectl((found) => {
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });
  const terraform = async (command: string, main = configuration): Promise<string[]> => {
    const folder = dirname(operator.file('main.tf', main));
    const { stdout } = await promisify(execFile)(
      program!,
      [command, folder, join(folder, 'terraform.tfstate')],
      { env: { ...process.env, HOME: folder, TF_VAR_kubeconfig: join(folder, 'config') } },
    );
    return stdout.trimEnd().split('\n');
  };
  const all = (action: string): string[] => [
    `kubectl_manifest.staff ${action}`,
    `kubectl_manifest.wiki ${action}`,
  ];
  const displayNameOf = (kind: string, name: string): Promise<string> =>
    operator.says('get', kind, name, '-o', 'jsonpath={.spec.displayName}');

  withTerraform(
    'the example of Terraform is planned, applied, changed, corrected and destroyed',
    async () => {
      expect(await terraform('plan')).toEqual(all('create'));
      expect(await terraform('apply')).toEqual(all('create'));
      expect(await displayNameOf('client', 'wiki')).toBe('Wiki');
      expect(await terraform('plan')).toEqual(all('unchanged'));

      const renamed = configuration.replace('"Staff"', '"All staff"');
      const oneUpdate = ['kubectl_manifest.staff update', 'kubectl_manifest.wiki unchanged'];
      expect(await terraform('plan', renamed)).toEqual(oneUpdate);
      expect(await displayNameOf('group', 'staff')).toBe('Staff');
      expect(await terraform('apply', renamed)).toEqual(oneUpdate);
      expect(await displayNameOf('group', 'staff')).toBe('All staff');

      const drift = '{"spec":{"displayName":"Drift"}}';
      await operator.says('patch', 'group', 'staff', '--type=merge', '-p', drift);
      expect(await terraform('plan', renamed)).toEqual(oneUpdate);
      expect(await terraform('apply', renamed)).toEqual(oneUpdate);
      expect(await displayNameOf('group', 'staff')).toBe('All staff');
      expect(await terraform('plan', renamed)).toEqual(all('unchanged'));

      await operator.says('delete', 'client', 'wiki');
      expect(await terraform('apply', renamed)).toEqual([
        'kubectl_manifest.staff unchanged',
        'kubectl_manifest.wiki create',
      ]);

      const withoutWiki = renamed.slice(0, renamed.indexOf('resource "kubectl_manifest" "wiki"'));
      expect(await terraform('apply', withoutWiki)).toEqual([
        'kubectl_manifest.staff unchanged',
        'kubectl_manifest.wiki delete',
      ]);
      expect(await operator.fails('get', 'client', 'wiki')).toContain('NotFound');
      expect(await terraform('destroy')).toEqual(['kubectl_manifest.staff delete']);
      expect(await operator.fails('get', 'group', 'staff')).toContain('NotFound');
    },
  );
}, 'newest');
