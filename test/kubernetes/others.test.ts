import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Cluster, openKubernetes } from '../support/cluster/cluster.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The programs may have to be installed. */
jest.setTimeout(900_000);

let cluster: Cluster;
let config: string;
beforeAll(async () => {
  // An idle watch may last longer than a sign-in is recent.
  cluster = await openKubernetes(['--limits-recent-sign-in=1h']);
  const operator = cluster.kubectl({ version: '', path: '' });
  config = join(dirname(operator.file('any', '')), 'config');
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const tool = (...path: string[]): string => join(import.meta.dirname, '../../hack/tools', ...path);

/** Runs a program with a kubeconfig; returns the lines that it prints. */
async function linesOf(program: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: 840_000 });
  return stdout.trimEnd().split('\n');
}

describe('a client of Python lists, watches and changes', () => {
  const python = toolProgram('python-clients');
  const each = python === undefined ? test.skip.each : test.each;
  each([
    ['official', ['listed True', 'MODIFIED Second', "namespaces ['default']"]],
    ['dynamic', ['MODIFIED Second', 'applied Third']],
    ['kubernetes_asyncio', ['MODIFIED Second']],
    ['lightkube', ['listed True', 'MODIFIED Second', 'applied Third']],
    [
      'kr8s',
      [
        "ours ['id.vestibule.org/v1alpha1', 'id.vestibule.org/v1beta1']",
        "namespaces ['default']",
        'listed True',
        'ADDED First',
        'MODIFIED Second',
      ],
    ],
    ['kopf', ['None First', 'MODIFIED Second']],
  ])('%s', async (client, facts) => {
    expect(await linesOf(python!, tool('python-clients/program.py'), config, client)).toEqual(
      facts,
    );
  });
});

describe('another client lists, watches and changes', () => {
  const cases = (program: string | undefined): typeof test =>
    program === undefined ? (test.skip as typeof test) : test;

  const libraries = toolProgram('fabric8');
  cases(libraries)('fabric8 of Java, with an informer', async () => {
    const program = tool('fabric8/Program.java');
    expect(await linesOf('java', '-cp', `${libraries!}/*`, program, config)).toEqual([
      'listed 1',
      'added fabric8 First',
      'updated fabric8 Second',
      'deleted fabric8 Second',
      'watching true',
    ]);
  });

  const ruby = toolProgram('kubeclient');
  cases(ruby)('kubeclient of Ruby', async () => {
    expect(await linesOf(ruby!, tool('kubeclient/program.rb'), config)).toEqual([
      'listed true',
      'MODIFIED Second',
      'namespaces ["default"]',
    ]);
  });

  const isBuilt = process.env.CLIENTS === 'all';
  const rust = isBuilt ? toolProgram('kube-rs') : undefined;
  const idleSeconds = process.env.VESTIBULE_IDLE_SECONDS ?? '1';
  cases(rust)('kube-rs, with a watcher that is idle between (built by CLIENTS=all)', async () => {
    expect(await linesOf(rust!, config, idleSeconds)).toEqual([
      'listed true',
      'got "First"',
      '"First"',
      '"Second"',
      'applied "Third"',
      'gone true',
    ]);
  });
});
