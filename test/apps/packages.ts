import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../docs/pages.js';

const run = promisify(execFile);
const locks = join(import.meta.dirname, 'packages');
const cache = execFileSync(join(root, 'hack/tools/cache'), { encoding: 'utf8' }).trim();

/** The programs of a registry that tests need on the path. */
const needs = {
  npm: ['npm'],
  PyPI: ['python3'],
  Maven: ['mvn', 'java'],
  Go: ['go'],
  Debian: [],
} as const;

/** Where the packages of a program come from. */
export type Registry = keyof typeof needs;

/** Whether a program is there. */
const has = (program: string): boolean =>
  program === 'initdb' ? postgreSQL() !== undefined : spawnSync('which', [program]).status === 0;

/** The programs that are not there, of those that an app needs. */
export const missingFor = (app: { registry: Registry; needs?: readonly string[] }): string[] =>
  [...needs[app.registry], ...(app.needs ?? [])].filter((program) => !has(program));

/**
 * Returns a folder of the cache with what `build` makes of a folder of lock files, once per state of
 * them. It appears whole, for another run that looks for it.
 */
async function installed(
  name: string,
  build: (folder: string) => Promise<unknown>,
): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const file of readdirSync(join(locks, name)).sort()) {
    hash.update(file).update(readFileSync(join(locks, name, file)));
  }
  const folder = join(cache, `apps-${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(join(locks, name), unfinished, { recursive: true });
  await build(unfinished);
  if (!existsSync(folder)) renameSync(unfinished, folder);
  return folder;
}

/** The folder whose `node_modules` has the npm packages. */
export const npmPackages = (): Promise<string> =>
  installed('npm', (cwd) =>
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd }),
  );

/**
 * The Python of an environment with the packages of PyPI. Only its `python` works: the other
 * programs of the environment name the folder that it was made in.
 */
export const python = async (): Promise<string> => {
  const folder = await installed('pypi', async (cwd) => {
    await run('python3', ['-m', 'venv', 'venv'], { cwd });
    const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-deps'];
    await run('venv/bin/python', [...pip, '-r', 'requirements.txt'], { cwd });
  });
  return join(folder, 'venv/bin/python');
};

/** Compiles an application of Spring in its folder; returns its class path. */
export async function springClasses(folder: string): Promise<string> {
  cpSync(join(locks, 'spring/pom.xml'), join(folder, 'pom.xml'));
  const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=libraries'];
  await run('mvn', ['-B', '-q', ...goals], { cwd: folder, maxBuffer: 1 << 26 });
  return `target/classes:${readFileSync(join(folder, 'libraries'), 'utf8').trim()}`;
}

/** Builds an application of Quarkus in its folder; returns its jar. */
export async function quarkusJar(folder: string): Promise<string> {
  cpSync(join(locks, 'quarkus/pom.xml'), join(folder, 'pom.xml'));
  await run('mvn', ['-B', '-q', '-DskipTests', 'package'], { cwd: folder, maxBuffer: 1 << 26 });
  return 'target/quarkus-app/quarkus-run.jar';
}

/** Builds a program of Go in its folder; returns its path. */
export async function goProgram(folder: string): Promise<string> {
  for (const file of ['go.mod', 'go.sum']) cpSync(join(locks, 'go', file), join(folder, file));
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' };
  await run('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', 'program', '.'], {
    cwd: folder,
    env,
  });
  return join(folder, 'program');
}

/**
 * Returns the folder with a program of Go that has lock files of its own. The program is `name`.
 * With `cgo` it is linked with code in C, which gcc compiles.
 */
export const goTool = (
  name: string,
  module: string,
  { tags = '', cgo = false } = {},
): Promise<string> => {
  const flags = ['-mod=readonly', '-buildvcs=false', '-ldflags=-s -w', `-tags=${tags}`];
  return installed(name, (cwd) =>
    run('go', ['build', ...flags, '-o', name, module], {
      cwd,
      env: { ...process.env, CGO_ENABLED: cgo ? '1' : '0', GOTOOLCHAIN: 'local' },
    }),
  );
};

/** Returns the folder with the source of a module that a folder of lock files names. */
export async function goSource(folder: string, module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], {
    cwd: folder,
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  });
  return JSON.parse(stdout).Dir;
}

/** The folder of the programs of PostgreSQL, which Debian does not put on the path. */
export const postgreSQL = (): string | undefined => {
  const versions = '/usr/lib/postgresql';
  return existsSync(versions)
    ? readdirSync(versions)
        .map((version) => join(versions, version, 'bin'))
        .find((folder) => existsSync(join(folder, 'initdb')))
    : undefined;
};

const found = (file: string, pattern: string): string | undefined =>
  new RegExp(pattern, 'm').exec(readFileSync(file, 'utf8'))?.[1];

/** The name and version of a package of npm, which may be there by another name. */
function npmPackage(name: string): [string, string] {
  const { packages } = JSON.parse(readFileSync(join(locks, 'npm/package-lock.json'), 'utf8'));
  const entry = packages[`node_modules/${name}`];
  return [entry.name ?? name, entry.version];
}

/** The version of a package of Debian, if it is installed. */
function debianVersion(name: string): string | undefined {
  const args = ['-W', '-f=${Version}', name];
  const { stdout } = spawnSync('dpkg-query', args, { encoding: 'utf8' });
  return /^(?:\d+:)?([\d.]+)/.exec(stdout ?? '')?.[1];
}

/** The programs of Go that have lock files of their own. */
const goTools = ['miniflux', 'gitea', 'vault'];

/** The file of a program of Go, or of all of `packages/go`, that has the versions. */
const goMod = (name: string): string => {
  if (name.includes('oauth2-proxy')) return join(root, 'hack/tools/oauth2-proxy/go.mod');
  return join(locks, goTools.find((tool) => name.includes(tool)) ?? 'go', 'go.mod');
};

/** Returns the name of a package and its version, as the lock file of its registry has them. */
const versions: Record<Registry, (name: string) => [string, string | undefined]> = {
  npm: npmPackage,
  PyPI: (name) => [
    name,
    found(
      join(locks, existsSync(join(locks, name)) ? name : 'pypi', 'requirements.txt'),
      `^${name}==(\\S+)$`,
    ),
  ],
  Maven: (name) =>
    name.startsWith('quarkus')
      ? [name, found(join(locks, 'quarkus/pom.xml'), '<quarkus.version>([^<]+)')]
      : [name, found(join(locks, 'spring/pom.xml'), '<version>([^<]+)')],
  Go: (name) => [name, found(goMod(name), `^\\s${name} v(\\S+)`)],
  Debian: (name) => [name, debianVersion(name)],
};

/** The names of the packages of a program, each with its version if it is known here. */
export const packagesOf = (app: {
  registry: Registry;
  packages: readonly string[];
}): { name: string; version?: string }[] =>
  app.packages.map((one) => {
    const [name, version] = versions[app.registry](one);
    return { name, ...(version && { version }) };
  });
