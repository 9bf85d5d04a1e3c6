import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Cluster, openKubernetes } from '../support/cluster/cluster.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { until } from '../support/patience.js';
import { stopAll } from '../support/service.js';

/** The program may have to be built. */
jest.setTimeout(1_500_000);

const program = process.env.CLIENTS === 'all' ? toolProgram('k9s') : undefined;

/** k9s in a terminal of tmux, as a person uses it. */
class Terminal {
  readonly #server = `vestibule-${randomUUID()}`;

  constructor(config: string) {
    const home = dirname(config);
    const environment = [
      `HOME=${home}`,
      `KUBECONFIG=${config}`,
      `PATH=${process.env.PATH}`,
      'TERM=xterm-256color',
    ];
    this.#tmux('new-session', '-d', '-x', '160', '-y', '40', 'env', '-i', ...environment, program!);
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#server, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
    });
  }

  /** Presses keys, each by tmux's name of it. */
  press(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  /** Goes to the view of a command. */
  view(command: string): void {
    this.press(':');
    this.#tmux('send-keys', '-l', command);
    this.press('Enter');
  }

  /** Resolves once what is shown matches. */
  async shows(wanted: RegExp): Promise<void> {
    await until(() => wanted.test(this.#tmux('capture-pane', '-p')));
  }

  stop(): void {
    this.#tmux('kill-server');
  }
}

(program === undefined ? describe.skip : describe)('k9s (built by CLIENTS=all)', () => {
  let cluster: Cluster;
  let terminal: Terminal;
  beforeAll(async () => {
    cluster = await openKubernetes();
    const operator = cluster.kubectl({ version: '', path: '' });
    const skip = 'k9s: { skipLatestRevCheck: true, ui: { splashless: true, logoless: true } }';
    const config = join(dirname(operator.file('config.yaml', skip)), 'config');
    terminal = new Terminal(config);
  });
  afterAll(async () => {
    terminal?.stop();
    cluster?.stop();
    await stopAll();
  });

  test('lists, follows, describes, prints and deletes', async () => {
    const { operator } = cluster;
    const group = (name: string) =>
      operator.post('groups', { metadata: { name }, spec: { displayName: `About ${name}` } });
    await group('first').is(201);
    await terminal.shows(/Cluster: test/);
    terminal.view('groups.id.vestibule.org');
    await terminal.shows(/NAME.*DISPLAY-NAME.*MEMBERS[^]*first +About first/);
    await group('second').is(201);
    await terminal.shows(/second +About second/);
    terminal.press('d');
    await terminal.shows(/Describe\(.*first\)[^]*Display Name: +About first/);
    terminal.press('Escape');
    await terminal.shows(/groups\(all\)\[2\]/);
    terminal.press('y');
    await terminal.shows(/YAML\(.*first\)[^]*displayName: About first/);
    terminal.press('Escape');
    await terminal.shows(/groups\(all\)\[2\]/);
    terminal.press('C-d');
    await terminal.shows(/Delete groups .*first\?/);
    terminal.press('Tab', 'Enter');
    await terminal.shows(/groups\(all\)\[1\]/);
    await operator.get('groups/first').fails(404, 'NotFound');
    expect((await operator.get('groups/second').is(200)).body.spec.displayName).toBe(
      'About second',
    );
  });

  test.each([
    ['accounts.id.vestibule.org', /EMAIL[^]*ada@example\.test/],
    ['clients.id.vestibule.org', /DISPLAY-NAME[^]*app/],
    ['namespaces', /namespaces[^]*default/],
  ])('%s', async (resource, wanted) => {
    terminal.view(resource);
    await terminal.shows(wanted);
  });
});
