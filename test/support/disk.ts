import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Puts a disk in memory of so many megabytes at a folder. */
export function mountDisk(folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], {
    stdio: 'ignore',
  });
}

/** Whether a disk may be mounted here. */
export const mounts = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), 'vestibule-probe-'));
  try {
    mountDisk(probe, 1);
    execFileSync('umount', [probe]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(probe);
  }
})();
