import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';

/** Who runs on which core; undefined where nothing can be pinned. */
export interface Layout {
  readonly server: number | undefined;
  readonly client: number | undefined;
  readonly etcd: number | undefined;
}

/**
 * Server and client on different cores, etcd on a third or else beside the client, never beside the
 * server.
 */
export function layoutOf(): Layout {
  const cores = availableParallelism();
  if (cores < 2 || spawnSync('taskset', ['-V']).status !== 0) {
    return { server: undefined, client: undefined, etcd: undefined };
  }
  return { server: 0, client: 1, etcd: cores > 2 ? 2 : 1 };
}

/** The layout in words. */
export const pinningOf = ({ server, client, etcd }: Layout): string =>
  server === undefined
    ? 'none'
    : `server ${server}, client ${client}, etcd ${etcd}${etcd === client ? " (the client's)" : ''}`;

/** A command line held to one core. */
export const pinned = (core: number | undefined, command: readonly string[]): string[] =>
  core === undefined ? [...command] : ['taskset', '-c', String(core), ...command];

/** The processor's name. */
export const processor = (): string => cpus()[0]?.model.trim() ?? 'unknown';

/** The type of the file system that a folder is on. */
export function fileSystemOf(folder: string): string {
  try {
    return execFileSync('stat', ['-f', '-c', '%T', folder], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

/** Whether a file system of this type keeps nothing on a disk. */
export const isMemory = (fileSystem: string): boolean => /^(tmpfs|ramfs|shm)/.test(fileSystem);
