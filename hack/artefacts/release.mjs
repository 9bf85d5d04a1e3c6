/**
 * Makes the artefacts of a release in a folder, from a checkout that is built: called by hack/release
 * as `node hack/artefacts/release.mjs OUT CACHE`, with SOURCE_DATE_EPOCH and REVISION. SOURCE and
 * BUILDER name the repository and who builds, for labels and provenance. KEY signs.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { billOf, installedPackages } from '../sbom.mjs';
import { sha256, tarball } from './archive.mjs';
import { writeChart } from './chart.mjs';
import { pinned } from './debian.mjs';
import { architectures, componentsBelow, testedNode, writeImage } from './image.mjs';
import { writePackage } from './package.mjs';
import { bundledPackages } from './runtime-packages.mjs';
import { writeProvenance, writeSums } from './statements.mjs';

const root = join(import.meta.dirname, '../..');
const [out, cache] = process.argv.slice(2);
const { SOURCE_DATE_EPOCH, REVISION: revision, SOURCE: source = '', KEY: key = '' } = process.env;
const builder = process.env.BUILDER || 'https://vestibule.org/build/by-hand';
const epoch = Number(SOURCE_DATE_EPOCH);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const work = mkdtempSync(join(tmpdir(), 'vestibule-release-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));

const say = (what) => process.stderr.write(`${what}\n`);
const at = (name) => join(out, name);
const asText = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Writes the npm package; returns the folder with its files. */
function makePackage() {
  say('npm package');
  const folder = join(work, 'package');
  writePackage(folder);
  tarball(at(`vestibule-${version}.tgz`), folder, { epoch, under: 'package' });
  return folder;
}

/** Writes the chart. */
function makeChart() {
  say('chart');
  mkdirSync(at('chart'));
  writeChart(at(`chart/vestibule-${version}.tgz`), epoch);
}

/** Copies what runs the program elsewhere: the files of systemd and of compose. */
function copyDeployment() {
  for (const name of ['systemd', 'compose']) {
    cpSync(join(root, 'deploy', name), at(name), { recursive: true });
  }
}

/** Writes the package of the core. */
function makeLibrary() {
  if (!existsSync(join(root, 'hack/library'))) return;
  say('library');
  execFileSync('hack/library', ['pack', out], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Writes the bills of materials and the image. */
function makeImage(installed) {
  const packages = { installed: installedPackages(installed), bundled: bundledPackages(), epoch };
  writeFileSync(at(`vestibule-${version}.tgz.cdx.json`), asText(billOf(packages)));
  const bills = {};
  for (const one of Object.keys(architectures)) {
    bills[one] = asText(billOf({ ...packages, further: componentsBelow(one) }));
    writeFileSync(at(`vestibule-${version}-image-${one}.cdx.json`), bills[one]);
  }
  say(`image for ${Object.keys(architectures).join(' and ')}`);
  const settings = { version, revision, source, epoch };
  const file = at(`vestibule-${version}-image.tar`);
  writeImage(file, { ...settings, installed, bills, work, cache });
}

/** What the artefacts were made of beside the commit; package-lock.json has a digest of each package. */
const materials = () => [
  { name: 'package-lock.json', digest: { sha256: sha256(join(root, 'package-lock.json')) } },
  ...Object.keys(architectures).map((one) => {
    const { name, version, sha512 } = testedNode(one);
    return { uri: `pkg:npm/${name}@${version}`, digest: { sha512 } };
  }),
  ...Object.keys(architectures).flatMap((one) =>
    pinned(one).map(({ name, version, sha256: digest }) => ({
      uri: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${one}`,
      digest: { sha256: digest },
    })),
  ),
];

const made = () =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(out, join(one.parentPath, one.name)))
    .sort();

const installed = makePackage();
makeLibrary();
makeChart();
copyDeployment();
makeImage(installed);
writeProvenance(out, made(), { version, revision, source, builder, materials: materials() });
writeSums(out, made(), key);
for (const name of made()) console.log(`${String(statSync(at(name)).size).padStart(11)}  ${name}`);
