import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eachKubectl } from '../support/cluster/cluster.js';
import { Kubectl } from '../support/cluster/kubectl.js';
import { program, signedIn, vestibule } from '../support/command.js';
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
jest.setTimeout(120_000);

let service: TestService;
let operator: { VESTIBULE_CONTEXTS: string };
const bin = dirname(program);

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  for (const name of ['alpha', 'beta']) {
    await tab.post('groups', { metadata: { name }, spec: { displayName: name } }).is(201);
  }
  operator = await signedIn(service, tab);
});
afterAll(stopAll);

const complete = async (environment: NodeJS.ProcessEnv, ...args: string[]) => {
  const { code, out, error } = await vestibule(['__complete', ...args], environment);
  expectFor(args, [code, error]).toEqual([0, '']);
  return out
    .split('\n')
    .map((line) => line.split('\t')[0])
    .slice(0, -1);
};

test('subcommands, flags and their values are proposed', async () => {
  const proposes = (...args: string[]) => complete(operator, ...args);
  expect(await proposes('')).toEqual(
    expect.arrayContaining(['serve', 'get', 'watch', 'delete', 'completion', ':4']),
  );
  expect(await proposes('de')).toEqual(['delete', ':4']);
  expect(await proposes('get', '--sh')).toEqual(['--show-labels', ':4']);
  expect(await proposes('get', '-o', 'y')).toEqual(['yaml', ':4']);
  expect(await proposes('get', '--output=y')).toEqual(['--output=yaml', ':4']);
  expect(await proposes('get', '--context', '')).toEqual(['test', ':4']);
  expect(await proposes('create', '-f', '')).toEqual([':0']);
  expect(await proposes('patch', '--type', '')).toEqual(['merge', 'json', ':4']);
  expect(await proposes('completion', 'b')).toEqual(['bash', ':4']);
  expect(await proposes('help', 'wa')).toEqual(['watch', ':4']);
});

test('nothing is said where nothing is known, and no service is asked', async () => {
  for (const args of [
    ['bogus', ''],
    ['get', ''],
    ['get', 'groups', 'al'],
    ['get', '--bogus='],
  ]) {
    expect(await complete(operator, ...args)).toEqual([':4']);
  }
  expect(await complete({ VESTIBULE_CONTEXTS: '/nowhere/contexts' }, 'get', '')).toEqual([':4']);
  expect(
    await complete({ VESTIBULE_CONTEXTS: import.meta.filename }, 'get', '--context', ''),
  ).toEqual([':4']);
});

test('the script for bash completes with what the command answers', async () => {
  const { out: script } = await vestibule(['completion', 'bash'], operator);
  const bash = (typed: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const text = `${script}\nCOMP_WORDS=(${typed.map((one) => `'${one}'`).join(' ')}); COMP_CWORD=${typed.length - 1}; _vestibule; complete -p vestibule; printf '%s\\n' "\${COMPREPLY[@]}"`;
      execFile(
        'bash',
        ['--norc', '-c', text],
        { env: { ...operator, PATH: `${bin}:${process.env.PATH}` } },
        (error, out, said) => (error || said ? reject(error ?? new Error(said)) : resolve(out)),
      );
    });
  expect(await bash(['vestibule', 'get', '--sh'])).toBe(
    'complete -F _vestibule vestibule\n--show-labels\n',
  );
  expect(await bash(['vestibule', 'get', '-o', 'ya'])).toBe(
    'complete -F _vestibule vestibule\nyaml\n',
  );
  expect(await bash([program, 'who'])).toBe('complete -F _vestibule vestibule\nwhoami\n');
});

test('there is a script for each shell', async () => {
  for (const [shell, sign] of [
    ['zsh', '#compdef vestibule'],
    ['fish', 'complete -c vestibule'],
  ]) {
    expect((await vestibule(['completion', shell!], {})).out).toContain(sign);
  }
});

/** A shell run with a home of its own and the command on its PATH. */
function run(shell: string, args: readonly string[], home: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      shell,
      args,
      {
        env: { ...operator, HOME: home, PATH: `${bin}:${process.env.PATH}`, TERM: 'xterm' },
        cwd: home,
        timeout: 100_000,
      },
      (error, out, said) =>
        error || said ? reject(new Error(`${error?.message ?? ''} ${said} ${out}`)) : resolve(out),
    );
  });
}
const whereInstalled = (shell: string): typeof test =>
  (spawnSync(shell, ['-c', 'true']).status === 0 ? test : test.skip) as typeof test;

/** A home with the script where docs/how-to/command.md says it goes, and two files. */
async function homeWith(shell: string, at: string): Promise<string> {
  const home = temporary();
  mkdirSync(dirname(join(home, at)), { recursive: true });
  writeFileSync(join(home, at), (await vestibule(['completion', shell], {})).out);
  for (const name of ['staff.yaml', 'unlike.yaml']) writeFileSync(join(home, name), '');
  return home;
}

whereInstalled('fish')(
  'fish proposes what the command answers, from the file that it finds by itself (skipped where there is no fish)',
  async () => {
    const home = await homeWith('fish', '.config/fish/completions/vestibule.fish');
    const proposes = async (typed: string): Promise<string[]> =>
      (await run('fish', ['-c', `complete -C '${typed}'`], home))
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]!);
    expect(await proposes('vestibule get -o ya')).toEqual(['yaml']);
    expect(await proposes('vestibule keys dr')).toEqual(['drop', 'drop-sealing']);
    expect(await proposes('vestibule get --output=y')).toEqual(['--output=yaml']);
    expect(await proposes('vestibule get ')).not.toContain('staff.yaml');
    expect(await proposes('vestibule create -f st')).toEqual(['staff.yaml']);
    expect(await run('fish', ['-c', "complete -C 'vestibule who'"], home)).toMatch(
      /^whoami\tprints who /,
    );
  },
);

whereInstalled('zsh')(
  'zsh completes with what the command answers, from a file on its fpath and from the script itself (skipped where there is no zsh)',
  async () => {
    const home = await homeWith('zsh', 'functions/_vestibule');
    // A terminal of its own, in which Tab is pressed as someone would; what becomes of the line,
    // or what is listed below it, is waited for.
    const pressed = `
    zmodload zsh/zpty
    begin() { zpty shell zsh -f -i; zpty -w shell "PS1=; autoload -Uz compinit; $1; print BE''GUN"; zpty -r shell seen '*BEGUN*' }
    press() { zpty -n -w shell $'\\C-u'"$1"$'\\t'; zpty -r shell seen "*$2*"; print -r -- "$1 -> \${2//[*]/ }" }`;
    const tried = `
    press 'vestibule who' 'whoami'
    press 'vestibule get -o ya' 'yaml'
    press 'vestibule get --sh' '--show-labels'
    press 'vestibule get --output=y' '--output=yaml'
    press 'vestibule create -f st' 'staff.yaml'
    zpty -d shell`;
    for (const start of [
      'fpath=(~/functions \\$fpath); compinit -u -d ~/dump',
      'compinit -u -d ~/other; source <(vestibule completion zsh)',
    ]) {
      expect(
        (await run('zsh', ['-f', '-c', `${pressed}\nbegin "${start}"\n${tried}`], home))
          .trim()
          .split('\n'),
      ).toHaveLength(5);
    }
  },
);

test('as a plugin of kubectl it is called so, and completes as kubectl asks', async () => {
  const link = (
    name: string,
    args: string[],
    environment: NodeJS.ProcessEnv = operator,
  ): Promise<[number, string, string]> =>
    new Promise((resolve) => {
      execFile(
        join(bin, name),
        args,
        { env: { PATH: process.env.PATH, ...environment } },
        (error, out, said) => resolve([Number(error?.code ?? 0), out, said]),
      );
    });
  expect(await link('kubectl-vestibule', ['get', 'group/alpha', '-o', 'name'])).toEqual([
    0,
    'group.id.vestibule.org/alpha\n',
    '',
  ]);
  expect((await link('kubectl-vestibule', ['help', 'get']))[1]).toMatch(
    /^kubectl vestibule get TYPE/,
  );
  expect(await link('kubectl-vestibule', ['whoami'], { VESTIBULE_CONTEXTS: '/nowhere' })).toEqual([
    1,
    '',
    'kubectl vestibule: you are not signed in: kubectl vestibule login URL\n',
  ]);
  expect(await link('kubectl_complete-vestibule', ['get', '-o', 'ya'])).toEqual([
    0,
    'yaml\n:4\n',
    '',
  ]);
});

eachKubectl((found) => {
  test('kubectl finds its plugin', async () => {
    const kubectl = new Kubectl(found, { url: service.baseURL });
    const more = { ...operator, PATH: `${bin}:${process.env.PATH}` };
    expect(
      await kubectl.run(['vestibule', 'get', 'groups', 'alpha', '-o', 'name'], '', more),
    ).toEqual({ code: 0, out: 'group.id.vestibule.org/alpha\n', error: '' });
    expect((await kubectl.run(['__complete', 'vestibule', 'get', '-o', 'ya'], '', more)).out).toBe(
      'yaml\n:4\n',
    );
    kubectl.remove();
  });
}, 'newest');
