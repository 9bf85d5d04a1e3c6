import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { helms } from '../cluster/helm.js';
import { Kubelet } from '../cluster/kubelet.js';
import { Surroundings } from '../cluster/surroundings.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { codeIn } from '../support/people/inbox.js';
import { Tab } from '../support/people/tab.js';
import {
  emptyFolder,
  environment,
  packageFile,
  released,
  removeFolders,
  root,
  signIn,
} from './artefacts.js';

jest.setTimeout(600_000);

const bin = process.env.KUBERNETES_BIN;
const [helm] = helms;
const page = readFileSync(join(root, 'docs/how-to/kubernetes.md'), 'utf8');
const [trial = ''] = /^## A trial$[^]*?(?=^## )/m.exec(page) ?? [];

/** The command of the page that begins like this. */
const commandOf = (begin: string): string => new RegExp(`^ {4}(${begin}.*)$`, 'm').exec(trial)![1]!;

const can = released && helm && bin;
(can ? describe : describe.skip)(
  'the chart (skipped without a release, Helm and Kubernetes)',
  () => {
    const [prefix, folder] = [emptyFolder(), emptyFolder()];
    // The pod runs the installed package: the image has the same files, and no kubelet runs it here.
    const here = new Surroundings(join(prefix, 'bin/vestibule'));
    let cluster: KubeAPIServer;
    let kubelet: Kubelet;

    beforeAll(async () => {
      execFileSync('npm', ['install', '--global', '--prefix', prefix, packageFile()], {
        env: environment(),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      mkdirSync(join(folder, 'bin'));
      symlinkSync(helm!.path, join(folder, 'bin/helm'));
      symlinkSync(join(bin!, 'kubectl'), join(folder, 'bin/kubectl'));
      symlinkSync(join(released!, 'chart'), join(folder, 'chart'));
      const [, values] = /^```yaml\n([^]*?)^```$/m.exec(trial)!;
      writeFileSync(join(folder, 'values.yaml'), values!);
      cluster = await KubeAPIServer.start();
      cluster.startControllers(
        [
          'statefulset-controller',
          'serviceaccount-controller',
          'garbage-collector-controller',
        ].join(),
      );
      kubelet = new Kubelet(cluster, here);
    });
    afterAll(async () => {
      await kubelet?.stop();
      await cluster?.stop();
      await here.end();
      removeFolders();
    });

    const run = (command: string): string => {
      const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', command], {
        cwd: folder,
        encoding: 'utf8',
        env: {
          PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
          HOME: folder,
          KUBECONFIG: cluster.config('admin'),
        },
      });
      expect([command, status, status === 0 ? '' : stderr]).toEqual([command, 0, '']);
      return stdout;
    };

    test('is installed by the printed command, and a person signs in to its pod', async () => {
      run(commandOf('helm install'));
      const url = await eventually(
        () => kubelet.urlOf('vestibule').catch(() => ''),
        (found) => found !== '',
      );
      const tab = new Tab(url, 'http://localhost:8080');
      tab.headers = { host: 'localhost:8080' };
      const address = await signIn(tab, 'you@example.org', async () => {
        const { body } = await tab.get('mockmessages').is(200);
        return codeIn(body.items[0].status.text);
      });
      expect(address).toBe('you@example.org');
      expect(run('kubectl get pods --namespace vestibule --no-headers')).toMatch(
        /^vestibule-0 +1\/1 +Running /,
      );
    });
  },
);
