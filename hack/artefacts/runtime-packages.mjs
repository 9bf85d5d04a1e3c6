/**
 * The npm packages that the built program loads from node_modules, and those that its files already
 * contain. The package and the image of a release have the former alone.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Packages that the bundle imports, each with what keeps it out of it. */
export const imported = {
  '@cedar-policy/cedar-wasm': 'WebAssembly in a file beside its script',
  '@grpc/grpc-js': 'reads .proto files beside its scripts',
  '@grpc/proto-loader': 'loads protobufjs, whose modules find each other at run time',
  'classic-level': 'native code, a file for each platform',
  etcd3: 'has the .proto file of etcd',
  'iconv-lite': 'long tables that most requests never need',
};

/** Packages that a thread loads by their path. */
export const loadedByPath = {
  'jpeg-js': 'decodes a logo',
  pngjs: 'decodes and encodes a logo',
  yaml: 'reads YAML of requests',
};

export const runtimePackages = [...Object.keys(imported), ...Object.keys(loadedByPath)].sort();

/** Where the builds of the program and of the pages write what they contain. */
const listing = (name) => join(root, 'dist/packages', `${name}.json`);
const found = new Map();

/**
 * A plugin of Vite that lists the packages whose modules are in the output, as name@version, in
 * dist/packages/NAME.json. Several builds of one process with the same name are one list.
 */
export function listPackages(name) {
  const packages = found.get(name) ?? new Set();
  found.set(name, packages);
  return {
    name: 'list-packages',
    enforce: 'post',
    generateBundle(_, files) {
      const modules = Object.values(files).flatMap(({ moduleIds = [] }) => moduleIds);
      for (const folder of modules.flatMap(
        (id) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [],
      )) {
        const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        packages.add(`${name}@${version}`);
      }
      mkdirSync(dirname(listing(name)), { recursive: true });
      writeFileSync(listing(name), `${JSON.stringify([...packages].sort(), null, 2)}\n`);
    },
  };
}

/** The packages that the files of the program and of the pages contain, as name@version. */
export const bundledPackages = () => [
  ...new Set(
    ['service', 'pages'].flatMap((name) => JSON.parse(readFileSync(listing(name), 'utf8'))),
  ),
];
