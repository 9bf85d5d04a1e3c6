import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const gigabyte = 2 ** 30;
const sectorBytes = 512;

/** A folder on a block device of its own, on which nothing else writes. */
export interface OwnDisk {
  /** The bytes that were written to the device so far, the journal of its file system included. */
  written(): number;
  /** Takes the device away; more than once is no error. */
  remove(): void;
}

/**
 * Mounts a file system on a loop device over a folder; undefined where that is not permitted. What
 * the kernel counts for a process says too much, because it counts large folios of the page cache
 * whole.
 */
export function mountOwnDisk(folder: string): OwnDisk | undefined {
  const image = `${folder}.img`;
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    run('truncate', '-s', String(16 * gigabyte), image);
    const device = run('losetup', '-f', '--show', image);
    const detach = (): void => {
      run('losetup', '-d', device);
      run('rm', '-f', image);
    };
    try {
      run('mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', device);
      run('mount', device, folder);
    } catch (error) {
      detach();
      throw error;
    }
    let isRemoved = false;
    const statistics = join('/sys/block', device.slice('/dev/'.length), 'stat');
    return {
      written: () => sectorBytes * Number(readFileSync(statistics, 'utf8').trim().split(/\s+/)[6]),
      remove() {
        if (isRemoved) return;
        isRemoved = true;
        run('umount', '-l', folder);
        detach();
      },
    };
  } catch {
    return undefined;
  }
}
