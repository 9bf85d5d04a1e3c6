import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { subcommands } from '../../cmd/vestibule/terminal/commands.js';
import { program, signedIn } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { signIn } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(180_000);

let service: TestService;
let environment: NodeJS.ProcessEnv;
const text = readFileSync(join(import.meta.dirname, '../../docs/how-to/command.md'), 'utf8');

/**
 * What the page and the help of each word show, except signing in, what `create` is tested with
 * elsewhere, settings (`config.test.ts`), stores (`snapshot.test.ts`, `migrate.test.ts`) and keys (`keys.test.ts`).
 */
const shown = [
  ...new Set([
    ...[...text.matchAll(/^ {4}(vestibule .*)$/gm)].map(([, command]) => command!),
    ...Object.values(subcommands).flatMap(({ examples = [] }) =>
      examples.map((example) => `vestibule ${example}`),
    ),
  ]),
].filter(
  (command) =>
    !/^vestibule (login|create|import|mail|serve|config|snapshot|epoch|migrate|keys)/.test(command),
);

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'my-app');
  const { tab } = await signIn(service, 'op@example.test', { client: 'my-app' });
  const home = temporary();
  mkdirSync(join(home, '.local/share/bash-completion/completions'), { recursive: true });
  environment = {
    ...(await signedIn(service, tab)),
    HOME: home,
    PATH: `${dirname(program)}:${process.env.PATH}`,
  };
  await tab
    .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'People' } })
    .is(201);
  await tab
    .post('groups', {
      metadata: { name: 'blue', labels: { team: 'blue' } },
      spec: { displayName: 'Blue' },
    })
    .is(201);
});
afterAll(stopAll);

/** Runs a line in a shell; one that goes on is interrupted once it has said something. */
function shell(command: string): Promise<{ code: unknown; out: string; error: string }> {
  return new Promise((resolve) => {
    const goesOn = / watch | -w\b/.test(command);
    const child = execFile(
      'bash',
      ['--norc', '-c', `exec ${command.replace('https://id.example.com', service.baseURL)}`],
      { env: environment, timeout: 60_000 },
      (failure, out, error) => resolve({ code: failure?.code ?? 0, out, error }),
    );
    if (goesOn) child.stdout!.once('data', () => child.kill('SIGINT'));
  });
}

test('what the documentation and the help show works', async () => {
  // Most commands of the pages are in blocks that test/docs/commands runs.
  expect(shown.length).toBeGreaterThan(10);
  const last = (command: string): number =>
    / delete groups/.test(command) && !command.includes('dry-run') ? 1 : 0;
  for (const command of shown.sort((a, b) => last(a) - last(b))) {
    const { code, error } = await shell(command);
    expectFor(command, [code, error.replace('No resources found\n', '')]).toEqual([
      / watch | -w\b/.test(command) ? 130 : 0,
      '',
    ]);
  }
});
