import { execFile } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stopAll, temporary } from '../support/service.js';
import { type ClientsService, openService } from './clients.js';

/** Packages may be installed and compiled beside other suites. */
jest.setTimeout(600_000);

const run = promisify(execFile);
const tools = join(import.meta.dirname, '../../hack/tools/openapi-typescript');
const bin = (name: string): string => join(tools, 'node_modules/.bin', name);

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  target: 'es2022',
  types: ['node'],
  outDir: 'out',
};

let opened: ClientsService;
beforeAll(async () => {
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: tools });
  opened = await openService();
});
afterAll(stopAll);

test('a client of openapi-typescript and openapi-fetch compiles strictly and works', async () => {
  const folder = temporary();
  const { baseURL } = opened.service;
  const document = await (await fetch(`${baseURL}/api/openapi/v3`)).text();
  writeFileSync(join(folder, 'openapi.json'), document);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['smoke.ts'] }),
  );
  symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(import.meta.dirname, 'typescript/smoke.ts'), join(folder, 'smoke.ts'));
  await run(
    bin('openapi-typescript'),
    ['openapi.json', '-o', 'schema.d.ts', '--default-non-nullable=false'],
    { cwd: folder },
  );
  const compiled = await run(bin('tsc'), ['-p', '.'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');
  const { stdout } = await run(
    process.execPath,
    [join(folder, 'out/smoke.js'), baseURL, opened.token],
    { env: { PATH: process.env.PATH } },
  );
  expect(JSON.parse(stdout)).toEqual({
    names: ['staff'],
    displayName: 'Retyped',
    dry: 200,
    refused: 'AlreadyExists',
    gone: 'Success',
  });
});
