import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { kindsOf, openStorage, startApiServer } from '../../apiserver/library/index.js';
import { Keys } from '../../security/keyring.js';
import { type EtcdServer, freePorts, startEtcd } from '../storage/etcd-server.js';
import { eachKubectl } from '../support/cluster/cluster.js';
import { makeCertificate } from '../support/cluster/issue-certificate.js';
import { type Found, Kubectl } from '../support/cluster/kubectl.js';
import { testKeys } from '../support/keys.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

const root = join(import.meta.dirname, '../..');
const folder = 'deploy/examples/apps/fischer';
const fullName = 'fischer.wardle.example.com';

/** The example as a process of its own. */
class Example {
  readonly #environment: Record<string, string>;
  #child: ChildProcess | undefined;
  url = '';

  constructor(environment: Record<string, string>) {
    this.#environment = environment;
  }

  async start(): Promise<this> {
    const [port] = await freePorts(1);
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [`${folder}/server.ts`], {
      cwd: root,
      env: { ...inherited, ...this.#environment, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.url = await new Promise((resolve, reject) => {
      let complaints = '';
      child.stderr.on('data', (text: Buffer) => {
        complaints += text.toString();
      });
      child.once('exit', (code, signal) => {
        reject(new Error(`the example ended (${code ?? signal}): ${complaints}`));
      });
      child.stdout.on('data', (text: Buffer) => {
        const [, url] = /^listening on (\S+)$/m.exec(text.toString()) ?? [];
        if (url !== undefined) resolve(url);
      });
    });
    return this;
  }

  /** Ends it by SIGTERM; its exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGTERM');
    return ended;
  }
}

afterAll(stopAll);

const fischer = (name: string, disallowedFlunders: readonly string[] = []) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Fischer',
  metadata: { name },
  spec: { disallowedFlunders },
});

describe.each(stores)('an API server of its own on %s', (store) => {
  let etcd: EtcdServer | undefined;
  let example: Example;
  const commands: Kubectl[] = [];
  const kubectlOf = (found: Found, url = example.url, token?: string): Kubectl => {
    commands.push(new Kubectl(found, { url }, token));
    return commands.at(-1)!;
  };

  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    example = await new Example(
      etcd ? { ETCD_SERVERS: etcd.endpoint } : { DATA_DIR: temporary() },
    ).start();
  });
  afterAll(async () => {
    for (const command of commands) command.remove();
    await example?.stop();
    await etcd?.stop();
  });

  eachKubectl((found) => {
    const prefix = `f${found.version.replaceAll('.', '-')}`;
    let kubectl: Kubectl;
    beforeAll(() => {
      kubectl = kubectlOf(found);
    });
    const file = (object: object): string => kubectl.file('object.yaml', JSON.stringify(object));
    const flunders = (name: string): Promise<string> =>
      kubectl.says('get', 'fi', name, '-o', 'jsonpath={.spec.disallowedFlunders}');

    test('shows its resources, its version and its fields', async () => {
      expect((await kubectl.says('api-resources', '--no-headers')).trim().split(/\s+/)).toEqual([
        'namespaces',
        'ns',
        'v1',
        'false',
        'Namespace',
        'fischers',
        'fi',
        'wardle.example.com/v1alpha1',
        'false',
        'Fischer',
      ]);
      expect(await kubectl.says('api-versions')).toBe('v1\nwardle.example.com/v1alpha1\n');
      expect(await kubectl.says('api-resources', '--categories=fish', '-o', 'name')).toBe(
        'fischers.wardle.example.com\n',
      );
      expect((await kubectl.run(['version'])).out).toMatch(
        /Server Version:.*v1\.33\.0\+wardle\.0\.0\.0/,
      );
      const explained = (await kubectl.says('explain', 'fischer')).replaceAll(/\s+/g, ' ');
      expect(explained).toContain('GROUP: wardle.example.com KIND: Fischer VERSION: v1alpha1');
      expect(explained).toContain('A Fischer catches flunders, except those that it must not.');
      expect(await kubectl.says('explain', 'fi.spec.disallowedFlunders')).toContain(
        'Names of flunders that are not caught.',
      );
    });

    test('creates, and refuses what the schema or the kind does not allow', async () => {
      const name = `${prefix}-created`;
      expect(await kubectl.says('create', '-f', file(fischer(name, ['sole', 'plaice'])))).toBe(
        `${fullName}/${name} created\n`,
      );
      expect(await kubectl.says('get', 'fischers', name, '--no-headers')).toMatch(
        new RegExp(`^${name} +sole,plaice +\\d+s\n$`),
      );
      expect(await kubectl.fails('create', '-f', file(fischer(name)))).toContain('AlreadyExists');
      const own = `${prefix}-own`;
      expect(await kubectl.fails('create', '-f', file(fischer(own, ['sole', own])))).toContain(
        `The Fischer "${own}" is invalid: spec.disallowedFlunders[1]: Invalid value: must not be the name of the Fischer`,
      );
      expect(await kubectl.fails('create', '-f', file(fischer(own, ['Sole'])))).toContain(
        'spec.disallowedFlunders[0]: Invalid value',
      );
    });

    test('applies from the client, and then only what has changed', async () => {
      const name = `${prefix}-applied`;
      const apply = (...items: string[]): Promise<string> =>
        kubectl.says('apply', '-f', file(fischer(name, items)));
      expect(await apply('sole')).toBe(`${fullName}/${name} created\n`);
      expect(await apply('sole')).toBe(`${fullName}/${name} unchanged\n`);
      expect(await apply('sole', 'turbot')).toBe(`${fullName}/${name} configured\n`);
      expect(await flunders(name)).toBe('["sole","turbot"]');
    });

    test('applies on the server, for managers that own items of one list', async () => {
      const name = `${prefix}-shared`;
      const apply = (manager: string, ...items: string[]): Promise<string> =>
        kubectl.says(
          'apply',
          '--server-side',
          `--field-manager=${manager}`,
          '-f',
          file(fischer(name, items)),
        );
      expect(await apply('one', 'sole')).toBe(`${fullName}/${name} serverside-applied\n`);
      await apply('other', 'turbot');
      expect(await flunders(name)).toBe('["sole","turbot"]');
      await apply('one');
      expect(await flunders(name)).toBe('["turbot"]');
      const managers = await kubectl.says(
        'get',
        'fischer',
        name,
        '--show-managed-fields',
        '-o',
        'jsonpath={range .metadata.managedFields[*]}{.manager} {.apiVersion}{"\\n"}{end}',
      );
      expect(managers).toContain('other wardle.example.com/v1alpha1\n');
    });

    test('shows changes in a watch, up to the deletion', async () => {
      const name = `${prefix}-watched`;
      const watch = kubectl.follow('get', 'fischers', '--watch-only', '--output-watch-events');
      try {
        // A watch says nothing when it begins, so that changes go on until it shows one.
        await kubectl.says('create', '-f', file(fischer(name)));
        for (let i = 0; !watch.text.includes(name); i += 1) {
          await kubectl.says('label', '--overwrite', 'fischer', name, `try=n${i}`);
        }
        await watch.until((text) => /(ADDED|MODIFIED) /.test(text));
        expect(await kubectl.says('delete', 'fischer', name)).toMatch(
          `fischer.wardle.example.com "${name}" deleted`,
        );
        await watch.until((text) => text.includes(`DELETED    ${name}`));
      } finally {
        await watch.stop();
      }
      expect(await kubectl.fails('get', 'fischer', name)).toBe(
        `Error from server (NotFound): fischers.wardle.example.com "${name}" not found\n`,
      );
    });

    test('keeps objects over a restart, and deletes all of them', async () => {
      const name = `${prefix}-kept`;
      await kubectl.says('create', '-f', file(fischer(name, ['sole'])));
      expect(await example.stop()).toBe(0);
      await example.start();
      kubectl = kubectlOf(found);
      expect(await flunders(name)).toBe('["sole"]');
      await kubectl.says('delete', 'fischers', '--all');
      expect((await kubectl.run(['get', 'fischers'])).error).toBe('No resources found\n');
    });
  });
});

eachKubectl((found) => {
  test('with a token and a certificate, a server is open to the holder alone', async () => {
    const token = 'a-token-of-enough-characters';
    const certificate = makeCertificate(['127.0.0.1'], Date.now());
    const server = await startApiServer({
      kinds: [
        kindsOf({ group: 'wardle.example.com', version: 'v1alpha1' })({
          kind: 'Flunder',
          resource: 'flunders',
          description: 'A flat fish.',
          verbs: ['get', 'list', 'delete'],
          spec: z.object({}),
          status: z.object({}),
          columns: {},
        }),
      ],
      storage: await openStorage({ directory: temporary() }),
      keys: new Keys(testKeys()),
      certificate,
      token,
    });
    const at = { url: server.url, ca: Buffer.from(certificate.cert) };
    const operator = new Kubectl(found, at, token);
    const stranger = new Kubectl(found, at, 'another-token-of-enough-characters');
    try {
      expect((await operator.run(['get', 'flunders'])).error).toBe('No resources found\n');
      expect((await operator.run(['auth', 'can-i', 'delete', 'flunders'])).out).toMatch(/^yes$/m);
      expect(await operator.says('auth', 'whoami', '-o', 'jsonpath={.status.userInfo}')).toBe(
        '{"groups":["system:authenticated"],"username":"operator"}',
      );
      expect(await stranger.fails('get', 'flunders')).toContain(
        'You must be logged in to the server',
      );
    } finally {
      operator.remove();
      stranger.remove();
      await server.stop();
    }
  });
}, 'newest');
