import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePorts } from '../storage/etcd-server.js';
import { settles } from '../support/patience.js';
import { Tab } from '../support/people/tab.js';
import { temporary } from '../support/service.js';
import { root } from './pages.js';
import { signInAt } from './through.js';

/** It starts the service and three samples, each a process, on a machine that may be busy. */
jest.setTimeout(120_000);

/** The environment without the settings of the tests. */
const others = Object.entries(process.env).filter(([name]) => !name.startsWith('VESTIBULE_'));
let running: ChildProcess;
let said = '';
let base: string;
beforeAll(async () => {
  const [port, secure, notes, board, tools] = (await freePorts(5)).map(String);
  running = spawn(process.execPath, ['hack/run.mjs'], {
    cwd: root,
    env: {
      ...Object.fromEntries(others),
      DATA: temporary(),
      PORT: port,
      SECURE_PORT: secure,
      NOTES_PORT: notes,
      BOARD_PORT: board,
      TOOLS_PORT: tools,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.stdout!.on('data', (text) => (said += text));
  await settles(
    async () => said,
    (text) => text.includes('Stop with Ctrl-C.') || running.exitCode !== null,
  );
  base = printed('Vestibule');
});
afterAll(async () => {
  running.kill('SIGINT');
  if (running.exitCode === null) await once(running, 'exit');
});

/** What hack/run prints beside a word. */
const printed = (word: string): string =>
  new RegExp(`^  ${word} +(.+?)(?:    .*)?$`, 'm').exec(said)![1]!;

test('the operator whom hack/run prints is one', async () => {
  const tab = new Tab(base, base);
  const account = `client_id=vestibule-account&response_type=none&redirect_uri=${base}/account`;
  const service = { tab: () => new Tab(base, base) };
  await signInAt(service, `/oauth2/auth?${account}&scope=openid`, printed('Operator'), tab);
  const { body } = await tab.get('clients').is(200);
  expect(body.items.map(({ metadata }: any) => metadata.name)).toContain('notes');
  await tab.patch('clients/notes', { spec: { displayName: 'Changed' } }).is(200);
});

test.each(['Notes', 'Board', 'Mailbox', 'Policy'])('the address of %s opens', async (word) => {
  expect((await fetch(printed(word))).status).toBe(200);
});

const nodes = spawnSync('which', ['-a', 'node'], { encoding: 'utf8' }).stdout.split('\n');
const older = nodes.filter(Boolean).map((path) => join(path, '..'));
test.each([...new Set([join(process.execPath, '..'), ...older])])(
  'the command is on the path that hack/run prints, with any Node on it: %s',
  (folder) => {
    const script = `${printed('Command')}\nvestibule version`;
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { ...Object.fromEntries(others), PATH: `${folder}:${process.env.PATH}` },
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\d/);
  },
);
