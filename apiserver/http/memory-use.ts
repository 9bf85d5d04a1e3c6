import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** How much of a limit of memory is in use, from 0 to 1. */
export interface MemoryUse {
  readonly limit: 'heap' | 'cgroup';
  readonly ratio: number;
}

/**
 * The files of one version of cgroups: where they are, the controller by which /proc/self/cgroup
 * names ours, and what is reclaimable.
 */
interface Version {
  readonly mount: string;
  readonly controller: string;
  readonly limit: string;
  readonly usage: string;
  readonly reclaimable: readonly string[];
}

/**
 * The kernel takes back pages of files before it ends a process, so they are not in use: the map of
 * the embedded store is such pages.
 */
const versions: readonly Version[] = [
  {
    mount: 'sys/fs/cgroup',
    controller: '',
    limit: 'memory.max',
    usage: 'memory.current',
    reclaimable: ['inactive_file', 'active_file', 'slab_reclaimable'],
  },
  {
    mount: 'sys/fs/cgroup/memory',
    controller: 'memory',
    limit: 'memory.limit_in_bytes',
    usage: 'memory.usage_in_bytes',
    reclaimable: ['total_inactive_file', 'total_active_file'],
  },
];

/** Version 1 says that there is no limit by a number that no machine has. */
const unlimited = 2 ** 60;

/**
 * The folders of the cgroups that limit this process, each with its version: its own and those
 * around it. `root` is that of the file system.
 */
function limitingCgroups(root: string): { readonly folder: string; readonly version: Version }[] {
  const listed = (textOf(join(root, 'proc/self/cgroup')) ?? '')
    .split('\n')
    .map((line) => line.split(':'));
  return versions.flatMap((version) => {
    const path = listed.find(([, controllers]) =>
      controllers?.split(',').includes(version.controller),
    )?.[2];
    if (path === undefined) return [];
    const names = path.split('/').filter(Boolean);
    const folders = [...Array(names.length + 1).keys()].map((depth) =>
      join(root, version.mount, ...names.slice(0, depth)),
    );
    return folders
      .filter((folder) => existsSync(join(folder, version.limit)))
      .map((folder) => ({ folder, version }));
  });
}

/** Reads how much of the nearest cgroup limit is in use; undefined where there is none. */
export function readCgroup(root = '/'): () => number | undefined {
  const cgroups = limitingCgroups(root);
  return () =>
    cgroups
      .map(ratioOf)
      .filter((ratio) => ratio !== undefined)
      .sort((a, b) => b - a)[0];
}

function ratioOf({
  folder,
  version,
}: ReturnType<typeof limitingCgroups>[number]): number | undefined {
  const limit = Number(textOf(join(folder, version.limit))); // "max" is no number
  if (!(limit > 0 && limit < unlimited)) return undefined;
  const stat = new Map(
    (textOf(join(folder, 'memory.stat')) ?? '')
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  const reclaimable = version.reclaimable.reduce(
    (sum, name) => sum + Number(stat.get(name) ?? 0),
    0,
  );
  return Math.max(0, Number(textOf(join(folder, version.usage)) ?? 0) - reclaimable) / limit;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Bytes of the limit that V8 keeps for new objects, at most: three halves of the new space, of 16
 * MiB each.
 */
const newObjects = 48 << 20;

/**
 * How much is in use of what V8 gives to objects that last: where that is full, the process ends,
 * however much is left for new ones.
 */
export function readHeap(): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  const lasting = getHeapSpaceStatistics().filter(
    ({ space_name: name }) => !name.startsWith('new_'),
  );
  return (
    lasting.reduce((sum, { space_used_size: used }) => sum + used, 0) /
    (limit - Math.min(newObjects, limit / 4))
  );
}

/**
 * How long a reading counts, in milliseconds: short enough that what comes meanwhile cannot fill
 * the rest.
 */
const fresh = 100;

/** Returns a function that reads the memory in use, at most ten times a second. */
export function recentMemoryUse(): () => readonly MemoryUse[] {
  const cgroup = readCgroup();
  let read = -Infinity;
  let uses: readonly MemoryUse[] = [];
  return () => {
    if (performance.now() - read < fresh) return uses;
    read = performance.now();
    const ratio = cgroup();
    uses = [
      { limit: 'heap', ratio: readHeap() },
      ...(ratio === undefined ? [] : [{ limit: 'cgroup' as const, ratio }]),
    ];
    return uses;
  };
}
