/**
 * Writes the files of the npm package into a folder: `node hack/artefacts/package.mjs FOLDER`, after
 * hack/build. The package has what runs, and the packages that it loads with all that these depend on:
 * npm does not read the npm-shrinkwrap.json of a tarball before it chooses versions.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimePackages } from './runtime-packages.mjs';

const root = join(import.meta.dirname, '../..');
const read = (file) => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json'));
const { packages } = JSON.parse(read('package-lock.json'));

/** Returns the path of the package that `name` means to the one at `from`, as Node looks for it. */
function resolve(from, name) {
  for (let at = from; ; at = at.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const path = join(at, 'node_modules', name);
    if (packages[path] !== undefined) return path;
    if (at === '') return undefined;
  }
}

/** Adds a package of the lock file, and all that it depends on, by their paths. */
function add(found, from, name, isOptional = false) {
  const path = resolve(from, name);
  if (path === undefined) {
    if (isOptional) return;
    throw new Error(`package-lock.json does not have ${name}, which ${from} depends on`);
  }
  if (found.has(path)) return;
  const { dev: _, devOptional: __, peer: ___, ...entry } = packages[path];
  found.set(path, entry);
  for (const one of Object.keys(entry.dependencies ?? {})) add(found, path, one);
  for (const one of Object.keys(entry.optionalDependencies ?? {})) add(found, path, one, true);
  for (const one of Object.keys(entry.peerDependencies ?? {})) {
    add(found, path, one, entry.peerDependenciesMeta?.[one]?.optional);
  }
}

/** Returns package.json and npm-shrinkwrap.json of the package. */
function manifests() {
  const found = new Map();
  for (const name of runtimePackages) add(found, '', name);
  const { name, version, description, license, type, engines, bin } = manifest;
  const dependencies = Object.fromEntries(
    runtimePackages.map((one) => [one, found.get(`node_modules/${one}`).version]),
  );
  const own = { name, version, description, license, type, engines, bin, dependencies };
  const bundled = { ...own, bundleDependencies: runtimePackages };
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  const shrinkwrap = {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, bin, engines },
      ...Object.fromEntries(sorted),
    },
  };
  return { 'package.json': bundled, 'npm-shrinkwrap.json': shrinkwrap };
}

/** Writes the files of the package into a folder. */
export function writePackage(folder) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const name of ['dist/bundle', 'dist/ui', 'LICENSE']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  // Files in place of symbolic links, which npm leaves out.
  for (const name of Object.values(manifest.bin)) {
    cpSync(realpathSync(join(root, name)), join(folder, name));
  }
  for (const [name, value] of Object.entries(manifests())) {
    writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  }
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of ['.bin', '.package-lock.json']) {
    rmSync(join(folder, 'node_modules', name), { recursive: true });
  }
  const page = read('deploy/package/README.md').replaceAll('VERSION', manifest.version);
  writeFileSync(join(folder, 'README.md'), page);
}

if (import.meta.main) writePackage(process.argv[2]);
