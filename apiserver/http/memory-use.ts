import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** The used share of a memory limit, from 0 to 1. */
export interface MemoryUse {
  readonly limit: 'heap' | 'cgroup';
  readonly ratio: number;
}

/**
 * The files of one cgroup version: its mount, the controller that names our cgroup in
 * /proc/self/cgroup, and the reclaimable memory.
 */
interface CgroupVersion {
  readonly mount: string;
  readonly controller: string;
  readonly limit: string;
  readonly usage: string;
  readonly reclaimable: readonly string[];
}

/**
 * The kernel reclaims file pages before it kills a process, so they do not count as used; the map
 * of the embedded store consists of them.
 */
const versions: readonly CgroupVersion[] = [
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

/** Version 1 expresses "no limit" by a number above any machine's memory. */
const unlimited = 2 ** 60;

/**
 * Returns the folders of the cgroups that limit this process, with their version: its own and its
 * ancestors. `root` is the file system's.
 */
function limitingCgroups(
  root: string,
): { readonly folder: string; readonly version: CgroupVersion }[] {
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

/**
 * Returns a function that reads the used share of the nearest cgroup limit; undefined without a
 * limit.
 */
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
  const limit = Number(textOf(join(folder, version.limit))); // NaN for "max"
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

/** The new space of V8, three semi-spaces of at most 64 MiB each. */
const maxNewSpaceBytes = 192 << 20;
const setsOldSpace = /--max[-_]old[-_]space[-_]size/;

/**
 * Returns the part of V8's limit that is for new objects: all of the new space where a flag sets
 * the size of the old space, otherwise at most three parts to 64 of the old space.
 */
function newSpaceBytes(limit: number): number {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''];
  return flags.some((flag) => setsOldSpace.test(flag))
    ? maxNewSpaceBytes
    : Math.min(maxNewSpaceBytes, (limit * 3) / 67);
}

/**
 * Returns the used share of V8's space for long-lived objects. The process ends when it is full,
 * even if space for new objects is left.
 */
export function readHeap(): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  const longLivedSpaces = getHeapSpaceStatistics().filter(
    ({ space_name: name }) => !name.startsWith('new_'),
  );
  return (
    longLivedSpaces.reduce((sum, { space_used_size: used }) => sum + used, 0) /
    (limit - newSpaceBytes(limit))
  );
}

/** How long a reading is used, in milliseconds: too short to fill the rest of the memory. */
const maxAgeMs = 100;

/** Returns a function that reads the memory in use, at most ten times a second. */
export function recentMemoryUse(): () => readonly MemoryUse[] {
  const cgroup = readCgroup();
  let readAt = -Infinity;
  let uses: readonly MemoryUse[] = [];
  return () => {
    if (performance.now() - readAt < maxAgeMs) return uses;
    readAt = performance.now();
    const ratio = cgroup();
    uses = [
      { limit: 'heap', ratio: readHeap() },
      ...(ratio === undefined ? [] : [{ limit: 'cgroup' as const, ratio }]),
    ];
    return uses;
  };
}
