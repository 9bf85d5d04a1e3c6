import { closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { deserialize, serialize } from 'node:v8';
import type { SnapshotSource } from '../snapshot/source.js';
import type { Entry } from '../storage.js';

const socketName = 'snapshot.sock';
/** A longer path of a socket is cut by the system. */
const maxPathBytes = 100;
const lengthBytes = 4;

/** What a stream of a snapshot begins with; the pages follow, and an empty one at the end. */
type Header = Pick<SnapshotSource, 'revision' | 'epoch'>;

/**
 * Sends a snapshot to each process that connects to the socket in the directory, which is as
 * protected as the files of the store. Returns a function that ends it. If the directory cannot have
 * a socket, `vestibule snapshot save` asks for the end of this process.
 */
export function serveSnapshots(
  directory: string,
  withSource: (use: (source: SnapshotSource) => Promise<void>) => Promise<void>,
): () => void {
  const sockets = new Set<Socket>();
  const place = socketPlace(directory);
  rmSync(place.path, { force: true });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    void withSource((source) => pipeline(Readable.from(framesOf(source)), socket)).catch(() =>
      socket.destroy(),
    );
  });
  server.on('error', () => {});
  server.listen(place.path).unref();
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    rmSync(place.path, { force: true });
    place.close();
  };
}

/** Runs `work` with the snapshot that the process sends which has the store of a directory open. */
export async function readFromServer<T>(
  directory: string,
  work: (source: SnapshotSource) => Promise<T>,
): Promise<T> {
  const place = socketPlace(directory);
  const socket = connect(place.path);
  try {
    const frames = readFrames(socket);
    const first = await frames.next();
    const header = first.value as Header;
    return await work({ store: 'embedded', ...header, pages: () => pagesOf(frames) });
  } finally {
    socket.destroy();
    place.close();
  }
}

/** Returns a path of the socket that is short enough, also in a deep directory. */
function socketPlace(directory: string): { path: string; close: () => void } {
  const path = join(directory, socketName);
  if (Buffer.byteLength(path) <= maxPathBytes) return { path, close: () => {} };
  const descriptor = openSync(directory, 'r');
  return {
    path: `/proc/self/fd/${descriptor}/${socketName}`,
    close: () => closeSync(descriptor),
  };
}

async function* framesOf({ revision, epoch, pages }: SnapshotSource): AsyncGenerator<Buffer> {
  yield frame({ revision, epoch } satisfies Header);
  for await (const page of pages()) yield frame(page);
  yield frame([]);
}

function frame(value: object): Buffer {
  const content = serialize(value);
  const length = Buffer.allocUnsafe(lengthBytes);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Yields what {@link frame} wrote. Throws if the stream ends before the last, empty one. */
async function* readFrames(socket: Socket): AsyncGenerator<unknown> {
  let buffer = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = Buffer.concat([buffer, chunk]);
    for (let end = frameEnd(buffer); end <= buffer.length; end = frameEnd(buffer)) {
      yield deserialize(buffer.subarray(lengthBytes, end));
      buffer = buffer.subarray(end);
    }
  }
  throw new Error('the process that has the store open ended before the snapshot was complete');
}

const frameEnd = (buffer: Buffer): number =>
  buffer.length < lengthBytes ? Infinity : lengthBytes + buffer.readUInt32BE(0);

async function* pagesOf(frames: AsyncGenerator<unknown>): AsyncGenerator<readonly Entry[]> {
  for await (const page of frames as AsyncGenerator<readonly Entry[]>) {
    if (page.length === 0) return;
    yield page;
  }
}
