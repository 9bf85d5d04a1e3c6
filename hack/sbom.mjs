/**
 * Writes the software bill of materials of a folder that has the files of the npm package and its
 * dependencies: `node hack/sbom.mjs FOLDER`, in npm's CycloneDX form. It lists the packages that are
 * installed there and those whose modules the files of the program and of the pages contain, each
 * with which of the two it is. npm's own would omit packages that a development package also needs,
 * and has a random serial number and the time. This one is reproducible for the same packages and
 * SOURCE_DATE_EPOCH.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './artefacts/runtime-packages.mjs';

const root = join(import.meta.dirname, '..');
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Returns the packages that are in node_modules of a folder, at any depth, as name@version. */
export const installedPackages = (folder) => [
  ...new Set(
    readdirSync(join(folder, 'node_modules'), { recursive: true })
      .filter((path) => /(^|\/node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
      .map((path) => read(join(folder, 'node_modules', path)))
      .map(({ name, version }) => `${name}@${version}`),
  ),
];

/** Returns what npm says of every package of package-lock.json. */
const everyPackage = () =>
  JSON.parse(
    execFileSync(
      'npm',
      [
        'sbom',
        '--package-lock-only',
        '--workspaces=false',
        '--sbom-format=cyclonedx',
        '--sbom-type=application',
      ],
      { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  );

/**
 * Returns the bill of materials of these packages (name@version): those that are installed, those
 * that are bundled, and further components, such as the packages of an image. `epoch` is in seconds.
 */
export function billOf({ installed, bundled, further = [], epoch }) {
  const { name: self, version } = read(join(root, 'package.json'));
  const { serialNumber: _, ...sbom } = everyPackage();
  const places = new Map([
    ...bundled.map((one) => [one, 'bundled']),
    ...installed.map((one) => [one, 'installed']),
  ]);
  const known = new Map(sbom.components.map((one) => [one['bom-ref'], one]));
  const unknown = [...places.keys()].filter((one) => !known.has(one));
  if (unknown.length > 0) throw new Error(`package-lock.json does not know ${unknown.join(', ')}`);
  const own = [...places].sort().map(([ref, value]) => ({
    ...known.get(ref),
    properties: [{ name: 'vestibule:place', value }],
  }));
  const refs = new Set([`${self}@${version}`, ...places.keys()]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const { tools: __, ...metadata } = sbom.metadata;
  metadata.component.name = self;
  metadata.lifecycles = [{ phase: 'build' }];
  metadata.timestamp = new Date(epoch * 1_000).toISOString();
  const bill = { ...sbom, metadata, components: [...own, ...further], dependencies };
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return { ...bill, serialNumber };
}

if (import.meta.main) {
  const bill = billOf({
    installed: installedPackages(process.argv[2]),
    bundled: bundledPackages(),
    epoch: Number(process.env.SOURCE_DATE_EPOCH ?? 0),
  });
  console.log(JSON.stringify(bill, undefined, 2));
}
