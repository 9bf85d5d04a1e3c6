import { createHash, type Hash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { encodeEnd, encodeHead, encodeItem, type Header } from './format.js';
import { isExcluded, type SnapshotProgress, SnapshotStats } from './layout.js';
import type { SnapshotSource } from './source.js';

const bufferBytes = 1 << 20;

/** The result of a save. */
export interface SaveResult {
  readonly header: Header;
  readonly stats: SnapshotStats;
}

/**
 * Writes a store to a new file that only its owner can read. The file gets its name when it is
 * complete and on disk.
 */
export async function saveSnapshot(
  source: SnapshotSource,
  file: string,
  release: string,
  snapshotProgress: SnapshotProgress,
): Promise<SaveResult> {
  assertNotExists(file);
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}.partial`);
  const header: Header = {
    release,
    time: new Date().toISOString(),
    store: source.store,
    revision: source.revision,
    epoch: source.epoch,
  };
  try {
    const handle = await open(draft, 'wx', 0o600);
    let stats: SnapshotStats;
    try {
      stats = await writeAll(source, header, new Writer(handle), snapshotProgress);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameToFinal(draft, file);
    return { header, stats };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
      (error as NodeJS.ErrnoException).code === 'EDQUOT'
      ? new Error(`no space is left for ${file}: nothing was kept`, { cause: error })
      : error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Throws if the file exists. */
export function assertNotExists(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already: a snapshot overwrites nothing`);
}

async function writeAll(
  source: SnapshotSource,
  header: Header,
  writer: Writer,
  { signal, progress }: SnapshotProgress,
): Promise<SnapshotStats> {
  const stats = new SnapshotStats();
  await writer.write(encodeHead(header));
  for await (const page of source.pages()) {
    signal.throwIfAborted();
    for (const entry of page) {
      if (isExcluded(entry.key)) continue;
      stats.add(entry.key, entry.key.length + entry.value.length);
      await writer.write(encodeItem(entry));
    }
    progress(stats);
  }
  await writer.write(encodeEnd(stats.keys));
  await writer.end();
  return stats;
}

/** Writes in chunks of a megabyte, and the digest at the end. */
class Writer {
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= bufferBytes) await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#handle.writeFile(this.#hash.digest());
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#chunks);
    [this.#chunks, this.#bytes] = [[], 0];
    this.#hash.update(bytes);
    await this.#handle.writeFile(bytes);
  }
}

/** Renames a complete file unless the name is taken by now. */
async function renameToFinal(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    assertNotExists(file);
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    await rename(draft, file); // the file system has no hard links
  }
  const directory = await open(dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
