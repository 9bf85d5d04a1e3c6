import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { fileSystemOf, pinningOf, processor } from '../layout.js';
import { etcdBinary } from '../sides/etcd.js';
import type { Result } from './result.js';

/** One run as it is kept. */
export interface Recording {
  readonly schema: 1;
  readonly commit: string;
  readonly time: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly pinning: string;
  readonly filesystem: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Result[];
}

/** Where and on what a run is made. */
export function circumstances(bench: Bench): Omit<Recording, 'rows'> {
  return {
    schema: 1,
    commit: commitOf(bench.root),
    time: new Date().toISOString(),
    node: bench.nodeVersion,
    cpu: processor(),
    cores: availableParallelism(),
    pinning: pinningOf(bench.layout),
    filesystem: fileSystemOf(bench.folder),
    versions: versionsOf(bench),
  };
}

/** Writes the record beside the earlier ones; answers its path. */
export function keep(folder: string, recording: Recording): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${recording.time.replace(/[:.]/g, '-')}.json`);
  writeFileSync(path, `${JSON.stringify(recording, null, 2)}\n`);
  return path;
}

function commitOf(root: string): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', root, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    return (
      git('rev-parse', '--short', 'HEAD') +
      (git('status', '--porcelain') === '' ? '' : ' with changes')
    );
  } catch {
    return 'unknown';
  }
}

function versionsOf({ root, modules }: Bench): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const name of ['oidc-provider', 'lmdb', 'etcd3', 'express', 'better-auth']) {
    const from = name === 'better-auth' ? modules : root;
    try {
      versions[name] = (
        JSON.parse(readFileSync(packageFile(from, name), 'utf8')) as { version: string }
      ).version;
    } catch {
      versions[name] = 'missing';
    }
  }
  try {
    versions.etcd =
      /etcd Version: (\S+)/.exec(
        execFileSync(etcdBinary, ['--version'], { encoding: 'utf8' }),
      )?.[1] ?? 'unknown';
  } catch {
    versions.etcd = 'missing';
  }
  return versions;
}

function packageFile(from: string, name: string): string {
  const found = createRequire(join(from, 'x.js'))
    .resolve.paths(name)!
    .map((folder) => join(folder, name, 'package.json'));
  return (
    found.find((path) => {
      try {
        readFileSync(path);
        return true;
      } catch {
        return false;
      }
    }) ?? ''
  );
}
