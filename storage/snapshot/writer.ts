import { createHash, randomUUID, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { leftOut, Tally, type SnapshotProgress } from './layout.js';
import { encodeEnd, encodeHead, encodeItem, type Header } from './format.js';
import type { SnapshotSource } from './source.js';

const bufferBytes = 1 << 20;

/** What was saved. */
export interface Saved {
  readonly header: Header;
  readonly tally: Tally;
}

/**
 * Writes what a store holds to a file that does not exist yet, readable by its owner alone; it has
 * its name only when it is whole and on disk.
 */
export async function saveSnapshot(
  source: SnapshotSource,
  file: string,
  release: string,
  watcher: SnapshotProgress,
): Promise<Saved> {
  refuseExisting(file);
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
    let tally: Tally;
    try {
      tally = await writeAll(source, header, new Writer(handle), watcher);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await publish(draft, file);
    return { header, tally };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
      (error as NodeJS.ErrnoException).code === 'EDQUOT'
      ? new Error(`no space is left for ${file}: nothing was kept`, { cause: error })
      : error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Throws where there is something of that name. */
export function refuseExisting(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already: a snapshot overwrites nothing`);
}

async function writeAll(
  source: SnapshotSource,
  header: Header,
  writer: Writer,
  { signal, progress }: SnapshotProgress,
): Promise<Tally> {
  const tally = new Tally();
  await writer.write(encodeHead(header));
  for await (const page of source.pages()) {
    signal.throwIfAborted();
    for (const entry of page) {
      if (leftOut(entry.key)) continue;
      tally.add(entry.key, entry.key.length + entry.value.length);
      await writer.write(encodeItem(entry));
    }
    progress(tally);
  }
  await writer.write(encodeEnd(tally.keys));
  await writer.end();
  return tally;
}

/** Writes by the megabyte, and in the end what proves all of it. */
class Writer {
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= bufferBytes) await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#handle.writeFile(this.#hash.digest());
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    [this.#waiting, this.#bytes] = [[], 0];
    this.#hash.update(bytes);
    await this.#handle.writeFile(bytes);
  }
}

/** Gives a finished file its name, unless something else has it by now. */
async function publish(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    refuseExisting(file);
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error;
    await rename(draft, file); // a file system without links
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
