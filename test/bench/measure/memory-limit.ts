import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Skip } from '../row.js';

/** A group of processes that may use so much memory together, pages of files included. */
export interface MemoryLimit {
  /** A command line that runs another one within the limit. */
  within(command: readonly string[]): string[];
  /** Takes the group away, once its processes have ended. */
  remove(): void;
}

/** Where cgroups are mounted, of version 2 or 1, and the file with the limit. */
const places = [
  ['/sys/fs/cgroup', 'memory.max', 'cgroup.controllers'],
  ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes', 'memory.limit_in_bytes'],
] as const;

/**
 * Takes the pages of the files below a folder out of memory, so that who reads them next is charged
 * for them.
 */
export function dropPages(folder: string): void {
  execFileSync('sync');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) {
      execFileSync('dd', [
        `if=${join(entry.parentPath, entry.name)}`,
        'iflag=nocache',
        'count=0',
        'status=none',
      ]);
    }
  }
}

/** Makes a cgroup with a limit in bytes; throws {@link Skip} where that is not permitted. */
export function limitMemory(name: string, bytes: number): MemoryLimit {
  const place = places.find(([root, , sign]) => existsSync(join(root, sign)));
  if (!place) throw new Skip('no cgroup of memory');
  const group = join(place[0], `vestibule-${process.pid}-${name}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, place[1]), String(bytes));
  } catch {
    throw new Skip('a cgroup of memory cannot be made');
  }
  const enter = `echo $$ > ${join(group, 'cgroup.procs')} && exec "$@"`;
  return {
    within: (command) => ['sh', '-c', enter, 'sh', ...command],
    remove: () => rmdirSync(group),
  };
}
