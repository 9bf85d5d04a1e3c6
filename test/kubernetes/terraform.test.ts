import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import { exampleFile } from '../support/cluster/gitops-example.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The programs may have to be built. */
jest.setTimeout(900_000);

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const driver = toolProgram('terraform-apply');
const withDriver = driver === undefined ? test.skip : test;
const tofu = process.env.TOFU || 'tofu';
const hasTofu = /OpenTofu/.test(spawnSync(tofu, ['version'], { encoding: 'utf8' }).stdout ?? '');
const provider = hasTofu ? toolProgram('terraform-provider-kubectl') : undefined;
const withTofu = provider === undefined ? test.skip : test;
const configuration = exampleFile('terraform/main.tf');

/** How many resources a command created, changed and removed, or will. */
interface Changes {
  readonly add: number;
  readonly change: number;
  readonly remove: number;
}
const changes = (add: number, change: number, remove: number): Changes => ({ add, change, remove });
const none = changes(0, 0, 0);

/** Runs `plan`, `apply` or `destroy` in a folder that has main.tf. */
type Run = (command: string, folder: string) => Promise<Changes>;

const environmentOf = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: folder,
  TF_VAR_kubeconfig: join(folder, 'config'),
});

const runDriver: Run = async (command, folder) => {
  const args = [command, folder, join(folder, 'state')];
  const { stdout } = await promisify(execFile)(driver!, args, { env: environmentOf(folder) });
  const countOf = (action: string): number => stdout.split(` ${action}\n`).length - 1;
  return changes(countOf('create'), countOf('update'), countOf('delete'));
};

/** OpenTofu takes the provider from where it was built, without a registry. */
const runTofu: Run = async (command, folder) => {
  const plugins = join(folder, 'plugins');
  const file = join(folder, 'tofurc');
  if (!existsSync(plugins)) {
    mkdirSync(plugins);
    symlinkSync(provider!, join(plugins, 'terraform-provider-kubectl'));
    const overrides = `dev_overrides { "gavinbunney/kubectl" = "${plugins}" }`;
    writeFileSync(file, `provider_installation { ${overrides} }`);
  }
  const args = [command, '-json', ...(command === 'plan' ? [] : ['-auto-approve'])];
  const { stdout } = await promisify(execFile)(tofu, args, {
    cwd: folder,
    env: { ...environmentOf(folder), TF_CLI_CONFIG_FILE: file },
  });
  const messages = stdout.trimEnd().split('\n');
  const summary = messages
    .map((line) => JSON.parse(line) as { type: string; changes: Changes })
    .findLast(({ type }) => type === 'change_summary');
  const { add, change, remove } = summary!.changes;
  return changes(add, change, remove);
};

eachKubectl((found) => {
  async function lifecycle(run: Run): Promise<void> {
    const operator = cluster.kubectl(found);
    const terraform = (command: string, main = configuration): Promise<Changes> =>
      run(command, dirname(operator.file('main.tf', main)));
    const displayNameOf = (kind: string, name: string): Promise<string> =>
      operator.says('get', kind, name, '-o', 'jsonpath={.spec.displayName}');
    expect(await terraform('plan')).toEqual(changes(2, 0, 0));
    expect(await terraform('apply')).toEqual(changes(2, 0, 0));
    expect(await displayNameOf('client', 'wiki')).toBe('Wiki');
    expect(await terraform('plan')).toEqual(none);

    const renamed = configuration.replace('"Staff"', '"All staff"');
    expect(await terraform('plan', renamed)).toEqual(changes(0, 1, 0));
    expect(await displayNameOf('group', 'staff')).toBe('Staff');
    expect(await terraform('apply', renamed)).toEqual(changes(0, 1, 0));
    expect(await displayNameOf('group', 'staff')).toBe('All staff');

    const drift = '{"spec":{"displayName":"Drift"}}';
    await operator.says('patch', 'group', 'staff', '--type=merge', '-p', drift);
    expect(await terraform('plan', renamed)).toEqual(changes(0, 1, 0));
    expect(await terraform('apply', renamed)).toEqual(changes(0, 1, 0));
    expect(await displayNameOf('group', 'staff')).toBe('All staff');
    expect(await terraform('plan', renamed)).toEqual(none);

    await operator.says('delete', 'client', 'wiki');
    expect(await terraform('apply', renamed)).toEqual(changes(1, 0, 0));

    const withoutWiki = renamed.slice(0, renamed.indexOf('resource "kubectl_manifest" "wiki"'));
    expect(await terraform('apply', withoutWiki)).toEqual(changes(0, 0, 1));
    expect(await operator.fails('get', 'client', 'wiki')).toContain('NotFound');
    expect(await terraform('destroy', withoutWiki)).toEqual(changes(0, 0, 1));
    expect(await operator.fails('get', 'group', 'staff')).toContain('NotFound');
  }

  withDriver('the provider plans, applies, changes, corrects and destroys the example', () =>
    lifecycle(runDriver),
  );
  withTofu('OpenTofu plans, applies, changes, corrects and destroys the example', () =>
    lifecycle(runTofu),
  );
}, 'newest');
