import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** The used share of a memory limit, from 0 to 1. */
export interface MemoryUse {
  readonly limit: 'heap' | 'cgroup';
  readonly ratio: number;
}

/**
 * The kernel reclaims file pages before it kills a process, so they do not count as used; what the
 * embedded store reads fills many of them.
 */
const reclaimable = /^(?:inactive_file|active_file|slab_reclaimable) (\d{1,20})/gm;

/**
 * Returns a function that reads the used share of the nearest limit of the cgroups (version 2) of
 * this process, its own and those around it; undefined without a limit. `root` is the file
 * system's.
 */
export function readCgroup(root = '/'): () => number | undefined {
  const [, path = ''] = /^0::([^\n]*)/m.exec(textOf(join(root, 'proc/self/cgroup'))) ?? [];
  const names = path.split('/').filter(Boolean);
  const folders = [...names, '']
    .map((_, depth) => join(root, 'sys/fs/cgroup', ...names.slice(0, depth)))
    .filter((folder) => existsSync(join(folder, 'memory.max')));
  return () => {
    const ratios = folders.map(ratioOf).filter((ratio) => ratio !== undefined);
    return ratios.length > 0 ? Math.max(...ratios) : undefined;
  };
}

function ratioOf(folder: string): number | undefined {
  const limit = Number(textOf(join(folder, 'memory.max'))); // NaN for "max"
  if (!(limit > 0)) return undefined;
  const stat = textOf(join(folder, 'memory.stat'));
  const freeable = [...stat.matchAll(reclaimable)].reduce(
    (sum, [, bytes]) => sum + Number(bytes),
    0,
  );
  return Math.max(0, Number(textOf(join(folder, 'memory.current'))) - freeable) / limit;
}

/** Returns the text of a file; empty if there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the used share of a limit that Node alone knows of, as of cgroups version 1. */
function constrainedRatio(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? process.memoryUsage.rss() / limit : undefined;
}

const oldSpaceFlag = /--max[-_]old[-_]space[-_]size[= ](\d{1,9})/;

/**
 * Returns the bytes that V8 has for long-lived objects: those of the flag, otherwise its limit
 * without the three parts of 67 at most that are for new ones.
 */
function longLivedLimit(): number {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS].join(' ');
  const [, mebibytes] = oldSpaceFlag.exec(flags) ?? [];
  return mebibytes === undefined
    ? (getHeapStatistics().heap_size_limit * 64) / 67
    : Number(mebibytes) * 2 ** 20;
}

/**
 * Returns the used share of V8's space for long-lived objects. The process ends when it is full,
 * even if space for new objects is left.
 */
function readHeap(): number {
  const used = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith('new_'))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
  return used / longLivedLimit();
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
    const ratio = cgroup() ?? constrainedRatio();
    uses = [
      { limit: 'heap', ratio: readHeap() },
      ...(ratio === undefined ? [] : [{ limit: 'cgroup' as const, ratio }]),
    ];
    return uses;
  };
}
