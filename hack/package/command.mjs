#!/usr/bin/env node
/**
 * Writes a project that uses this package into a new folder, with the package itself beside it:
 * `vestibule-apiserver new DIR`. So a project can be installed wherever the package came from.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

function fail(message) {
  console.error(`vestibule-apiserver: ${message}`);
  process.exit(1);
}

const [command, given, ...more] = process.argv.slice(2);
if (command !== 'new' || given === undefined || more.length > 0) {
  fail('write "vestibule-apiserver new DIR", where DIR is a new folder');
}
const folder = resolve(given);
if (existsSync(folder) && readdirSync(folder).length > 0) {
  fail(`${given} is not empty; give a new folder`);
}
const own = import.meta.dirname;
mkdirSync(folder, { recursive: true });
cpSync(join(own, 'project'), folder, { recursive: true });
// npm packs no file of this name.
writeFileSync(join(folder, '.gitignore'), 'node_modules/\ndata/\n');
try {
  const options = ['--ignore-scripts', '--loglevel=error', '--pack-destination', folder];
  execFileSync('npm', ['pack', own, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
} catch {
  fail('npm pack failed: the lines above say why');
}
console.log(`wrote ${given}; go on with

  cd ${given}
  npm install
  npm start`);
