import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { stopAll, temporary } from '../support/service.js';
import { type ClientsService, openService } from './clients.js';

/** Packages may be fetched and compiled beside other suites. */
jest.setTimeout(900_000);

const run = promisify(execFile);
const pom = join(import.meta.dirname, '../../hack/tools/openapi-generator/pom.xml');
const has = (...programs: string[]): boolean =>
  programs.every((program) => spawnSync(program, ['--help']).error === undefined);
const withProgram = (...programs: string[]): typeof test => {
  if (has(...programs)) return test;
  process.stderr.write(`SKIPPED test/clients: needs ${programs.join(' and ')}\n`);
  return test.skip as typeof test;
};

let opened: ClientsService;
let folder: string;
beforeAll(async () => {
  opened = await openService();
  folder = temporary();
  const document = await fetch(`${opened.service.baseURL}/api/openapi/v3`);
  writeFileSync(join(folder, 'openapi.json'), await document.text());
});
afterAll(stopAll);

/** Generates a client and returns its folder. */
async function generate(language: 'go' | 'python'): Promise<string> {
  const output = join(folder, language);
  const properties = { document: join(folder, 'openapi.json'), language, folder: output };
  const settings = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
  await run('mvn', ['-B', '-q', '-f', pom, ...settings, 'generate-sources']);
  return output;
}

/** Compiles in a third of the time; the standard library is compiled so already for other programs of tests. */
const unoptimized = ['-gcflags=all=-N -l'];

const source = (...path: string[]): string => join(import.meta.dirname, ...path);

describe('a client of openapi-generator compiles and works', () => {
  withProgram(
    'mvn',
    'java',
    'go',
  )('in Go', async () => {
    const output = await generate('go');
    mkdirSync(join(output, 'smoke'));
    copyFileSync(source('go/main.go'), join(output, 'smoke/main.go'));
    const options = { cwd: output, env: { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' } };
    await run('go', ['build', ...unoptimized, './...'], options);
    await run('go', ['build', ...unoptimized, '-o', 'smoke/smoke', './smoke'], options);
    const { stdout } = await run(join(output, 'smoke/smoke'), [
      opened.service.baseURL,
      opened.token,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      names: ['staff'],
      displayName: 'Retyped',
      refused: 'AlreadyExists',
      gone: 'Success',
    });
  });

  withProgram(
    'mvn',
    'java',
    'python3',
  )('in Python', async () => {
    const output = await generate('python');
    const python = join(output, 'venv/bin/python');
    await run('python3', ['-m', 'venv', join(output, 'venv')]);
    await run(python, ['-m', 'pip', 'install', '-q', '-r', join(output, 'requirements.txt')]);
    await run(python, ['-m', 'compileall', '-q', join(output, 'vestibule')]);
    copyFileSync(source('python/smoke.py'), join(output, 'smoke.py'));
    const { stdout } = await run(python, [
      join(output, 'smoke.py'),
      opened.service.baseURL,
      opened.token,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      names: ['staff'],
      displayName: 'Retyped',
      refused: 'AlreadyExists',
      gone: 'Success',
      condition: 'InForce',
    });
  });
});
