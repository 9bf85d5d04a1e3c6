/**
 * Writes the software bill of materials in npm's CycloneDX form: `node hack/sbom.mjs` where only
 * production packages are installed. With --omit=dev, npm omits packages that a development package
 * also needs, and adds a random serial number and the time. This one lists every installed package
 * and is reproducible for the same packages and SOURCE_DATE_EPOCH.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { name: root, version } = read('package.json');
const installed = new Set(
  Object.entries(read('node_modules/.package-lock.json').packages).map(
    ([path, one]) =>
      `${one.name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${one.version}`,
  ),
);

const sbom = JSON.parse(
  execFileSync(
    'npm',
    [
      'sbom',
      '--package-lock-only',
      '--workspaces=false',
      '--sbom-format=cyclonedx',
      '--sbom-type=application',
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] },
  ),
);
const kept = new Set([`${root}@${version}`, ...installed]);
sbom.metadata.component.name = root;
sbom.metadata.lifecycles = [{ phase: 'build' }];
sbom.metadata.timestamp = new Date(
  Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1_000,
).toISOString();
sbom.components = sbom.components.filter((one) => installed.has(one['bom-ref']));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

const unknown = [...installed].filter(
  (one) => !sbom.components.some((its) => its['bom-ref'] === one),
);
if (unknown.length > 0) throw new Error(`package-lock.json does not know ${unknown.join(', ')}`);
delete sbom.serialNumber;
const digest = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
const serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
console.log(JSON.stringify({ ...sbom, serialNumber }, undefined, 2));
