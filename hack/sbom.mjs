/**
 * Writes the bill of materials of what is installed, CycloneDX as npm writes it: `node
 * hack/sbom.mjs`, where production packages alone are installed. npm leaves out of it, with
 * --omit=dev, what a package of development needs too, and gives each a number and a time of its
 * own: here it is every package that is there, and of the same packages and SOURCE_DATE_EPOCH the
 * same to the bit.
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

const bill = JSON.parse(
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
bill.metadata.component.name = root;
bill.metadata.lifecycles = [{ phase: 'build' }];
bill.metadata.timestamp = new Date(
  Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1_000,
).toISOString();
bill.components = bill.components.filter((one) => installed.has(one['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

const unnamed = [...installed].filter(
  (one) => !bill.components.some((its) => its['bom-ref'] === one),
);
if (unnamed.length > 0) throw new Error(`package-lock.json does not know ${unnamed.join(', ')}`);
delete bill.serialNumber;
const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
const serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
console.log(JSON.stringify({ ...bill, serialNumber }, undefined, 2));
