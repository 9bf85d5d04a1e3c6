import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './archive.mjs';

/** The namespace of signatures: a signature of the same key for something else does not count. */
export const namespace = 'vestibule-release';

/**
 * Writes provenance.json: an in-toto Statement v1 with the predicate SLSA Provenance v1. It says
 * which files were made, by which command, from which commit, and from which further materials
 * (`{ name or uri, digest }`). It has no time and no name of a machine, so that the same commit makes
 * the same statement. `source` is the address of the repository, if it is known; `builder` names who
 * runs the command.
 */
export function writeProvenance(folder, names, options) {
  const { version, revision, source, builder, materials } = options;
  const tag = `refs/tags/v${version}`;
  const commit = {
    ...(source ? { uri: `git+${source}@${tag}` } : { name: 'the commit of the checkout' }),
    digest: { gitCommit: revision },
  };
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: names.map((name) => ({ name, digest: { sha256: sha256(join(folder, name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://vestibule.org/build/release/v1',
        externalParameters: { command: `hack/release ${version}`, ref: tag },
        internalParameters: {},
        resolvedDependencies: [commit, ...materials],
      },
      runDetails: { builder: { id: builder } },
    },
  };
  writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`);
}

/**
 * Writes SHA256SUMS, in the form of sha256sum, and signs it with a key of OpenSSH: SHA256SUMS.sig.
 * Without a key the file says in its first line that it is not signed.
 */
export function writeSums(folder, names, key) {
  const sums = names.map((name) => `${sha256(join(folder, name))}  ${name}\n`).join('');
  const file = join(folder, 'SHA256SUMS');
  writeFileSync(file, key ? sums : `# This release is not signed.\n${sums}`);
  if (!key) return;
  const signature = execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', namespace], {
    input: readFileSync(file),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  writeFileSync(`${file}.sig`, signature);
}
