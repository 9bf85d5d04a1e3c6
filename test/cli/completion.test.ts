import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eachKubectl } from '../support/cluster.js';
import { program, signedIn, vestibule } from '../support/command.js';
import { Kubectl } from '../support/kubectl.js';
import { signIn } from '../support/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

let service: TestService;
let operator: { VESTIBULE_CONFIG: string };
const bin = dirname(program);

beforeAll(async () => {
  service = await startTest({ flags: ['--operators', 'op@example.test', '--limit-factor', '1000'] });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  for (const name of ['alpha', 'beta']) await tab.post('groups', { metadata: { name }, spec: { displayName: name } }).is(201);
  operator = await signedIn(service, tab);
}, 60_000);
afterAll(stopAll);

const complete = async (environment: NodeJS.ProcessEnv, ...args: string[]) => {
  const { code, out, error } = await vestibule(['__complete', ...args], environment);
  expect([args, code, error]).toEqual([args, 0, '']);
  return out.split('\n').map((line) => line.split('\t')[0]).slice(0, -1);
};

test('words, flags, formats, types and names are proposed, each with what the shell does beside', async () => {
  const proposes = (...args: string[]) => complete(operator, ...args);
  expect(await proposes('')).toEqual(expect.arrayContaining(['serve', 'get', 'watch', 'explain', 'completion', ':4']));
  expect(await proposes('de')).toEqual(['delete', ':4']);
  expect(await proposes('get', '--sh')).toEqual(['--show-labels', ':4']);
  expect(await proposes('get', 'gr')).toEqual(['grants', 'groups', ':4']);
  expect(await proposes('get', '-o', 'json', 'groups', 'alpha', '')).toEqual(['beta', ':4']);
  expect(await proposes('delete', 'group/al')).toEqual(['group/alpha', ':4']);
  expect(await proposes('get', 'groups,pol')).toEqual(['groups,policies', 'groups,policydecisions', ':4']);
  expect(await proposes('get', '-o', 'y')).toEqual(['yaml', ':4']);
  expect(await proposes('get', '--output=y')).toEqual(['--output=yaml', ':4']);
  expect(await proposes('get', '--context', '')).toEqual(['test', ':4']);
  expect(await proposes('create', '-f', '')).toEqual([':0']);
  expect(await proposes('explain', 'passk')).toEqual(['passkeys', ':4']);
  expect(await proposes('completion', 'b')).toEqual(['bash', ':4']);
  expect(await proposes('help', 'wa')).toEqual(['watch', ':4']);
});

test('nothing is said where nothing is known, and no token is renewed', async () => {
  for (const args of [['bogus', ''], ['get', 'pods', ''], ['get', 'groups', 'zzz']]) expect(await complete(operator, ...args)).toEqual([':4']);
  expect(await complete({ VESTIBULE_CONFIG: '/nowhere/contexts' }, 'get', '')).toEqual([':4']);
  expect(await complete(operator, 'get', '--server', 'http://127.0.0.1:1', '')).toEqual([':4']);
  const held = JSON.parse(readFileSync(operator.VESTIBULE_CONFIG, 'utf8'));
  const file = `${operator.VESTIBULE_CONFIG}-ended`;
  writeFileSync(file, JSON.stringify({ ...held, contexts: { test: { ...held.contexts.test, expires: 0, refreshToken: 'kept' } } }));
  expect(await complete({ VESTIBULE_CONFIG: file }, 'get', '')).toEqual([':4']);
  expect(JSON.parse(readFileSync(file, 'utf8')).contexts.test.refreshToken).toBe('kept');
});

test('the script for bash fills in what it is told', async () => {
  const { out: script } = await vestibule(['completion', 'bash'], operator);
  const bash = (typed: string[]): Promise<string> => new Promise((resolve, reject) => {
    const text = `${script}\nCOMP_WORDS=(${typed.map((one) => `'${one}'`).join(' ')}); COMP_CWORD=${typed.length - 1}; _vestibule; complete -p vestibule; printf '%s\\n' "\${COMPREPLY[@]}"`;
    execFile('bash', ['--norc', '-c', text], { env: { ...operator, PATH: `${bin}:${process.env.PATH}` } }, (error, out, said) => (error || said ? reject(error ?? new Error(said)) : resolve(out)));
  });
  expect(await bash(['vestibule', 'get', 'gr'])).toBe('complete -F _vestibule vestibule\ngrants\ngroups\n');
  expect(await bash(['vestibule', 'patch', 'group', 'al'])).toBe('complete -F _vestibule vestibule\nalpha\n');
  expect(await bash([program, 'who'])).toBe('complete -F _vestibule vestibule\nwhoami\n');
});

test('there is a script for each shell', async () => {
  for (const [shell, sign] of [['zsh', '#compdef vestibule'], ['fish', 'complete -c vestibule']]) expect((await vestibule(['completion', shell!], {})).out).toContain(sign);
});

test('as a plugin of kubectl it is called so, and completes as kubectl asks', async () => {
  const link = (name: string, args: string[], environment: NodeJS.ProcessEnv = operator): Promise<[number, string, string]> => new Promise((resolve) => {
    execFile(join(bin, name), args, { env: { PATH: process.env.PATH, ...environment } }, (error, out, said) => resolve([Number(error?.code ?? 0), out, said]));
  });
  expect(await link('kubectl-vestibule', ['get', 'group/alpha', '-o', 'name'])).toEqual([0, 'group.id.vestibule.org/alpha\n', '']);
  expect((await link('kubectl-vestibule', ['help', 'get']))[1]).toMatch(/^kubectl vestibule get TYPE/);
  expect(await link('kubectl-vestibule', ['whoami'], { VESTIBULE_CONFIG: '/nowhere' })).toEqual([1, '', 'kubectl vestibule: you are not signed in: kubectl vestibule login URL\n']);
  expect(await link('kubectl_complete-vestibule', ['get', 'group', 'al'])).toEqual([0, 'alpha\n:4\n', '']);
});

eachKubectl((found) => {
  test('kubectl finds its plugin', async () => {
    const kubectl = new Kubectl(found, { url: service.baseURL });
    const more = { ...operator, PATH: `${bin}:${process.env.PATH}` };
    expect(await kubectl.run(['vestibule', 'get', 'groups', 'alpha', '-o', 'name'], '', more)).toEqual({ code: 0, out: 'group.id.vestibule.org/alpha\n', error: '' });
    expect((await kubectl.run(['__complete', 'vestibule', 'get', 'group', 'al'], '', more)).out).toBe('alpha\n:4\n');
    kubectl.remove();
  });
}, 'newest');
