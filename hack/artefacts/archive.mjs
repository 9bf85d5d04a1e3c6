import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';

/** Returns the SHA-256 of a file, in hexadecimal digits. */
export const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/**
 * Writes the files of a folder as a tar. The same files make the same bytes: sorted by name, all of
 * one time (`epoch`, in seconds), one owner (a user ID that is a group ID, too) and, unless `modes`
 * are kept, without what the umask of a build left of their modes. `under` is the folder in the tar,
 * and `without` a file or folder that it does not have.
 */
export function tar(file, folder, { epoch, owner = 0, under = '.', modes = 'normal', without }) {
  execFileSync(
    'tar',
    [
      '--create',
      `--file=${file}`,
      '--format=ustar',
      '--sort=name',
      `--mtime=@${epoch}`,
      `--owner=:${owner}`,
      `--group=:${owner}`,
      '--numeric-owner',
      ...(modes === 'normal' ? ['--mode=u=rwX,go=rX'] : []),
      ...(without ? [`--exclude=./${without}`] : []),
      `--transform=flags=r;s,^\\.,${under},`,
      `--directory=${folder}`,
      '.',
    ],
    { env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
}

/** Compresses a file with gzip, without name and time, in place of the file. */
export function gzip(file) {
  execFileSync('gzip', ['--no-name', '--force', '--suffix=.gz', file]);
  renameSync(`${file}.gz`, file);
}

/** Writes the files of a folder as a compressed tar: see {@link tar}. */
export function tarball(file, folder, options) {
  tar(file, folder, options);
  gzip(file);
}
