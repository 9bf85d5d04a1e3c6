import type { Socket } from 'node:net';
import type { ApiResponse } from '../http/message.js';

const lineEnd = Buffer.from('}\n');
const chunkEnd = Buffer.from('\r\n');

/**
 * One event of a stream: a line of JSON, framed as a chunk too (RFC 9112 7.1), so that what a
 * thousand are told is framed once.
 */
export class WatchFrame {
  readonly #chunk: Buffer;
  readonly #begin: number;

  constructor(type: string, object: Buffer) {
    const begin = Buffer.from(`{"type":"${type}","object":`);
    const size = Buffer.from(`${(begin.length + object.length + lineEnd.length).toString(16)}\r\n`);
    this.#begin = size.length;
    this.#chunk = Buffer.concat([size, begin, object, lineEnd, chunkEnd]);
  }

  /** The line alone. */
  get bytes(): Buffer {
    return this.#chunk.subarray(this.#begin, -chunkEnd.length);
  }

  /**
   * Sends it behind a head that was flushed, with all else of this turn of the event loop. The
   * chunk goes to the socket as it is where node would frame the same one and would pass it on at
   * once; else (HTTP/1.0, HEAD, an answer before it on the connection, a half that is closed) node
   * is given the line.
   */
  sendTo(res: ApiResponse): void {
    if (res.destroyed || res.writableEnded) return;
    const { socket } = res;
    if (!socket?.writable || !res.chunkedEncoding || res.writableLength !== socket.writableLength)
      return void res.write(this.bytes);
    hold(socket);
    socket.write(this.#chunk);
  }
}

/** Sockets that keep what they are given until this turn is over. */
let held: Socket[] = [];

function hold(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  if (held.push(socket) === 1) process.nextTick(letGo);
}

function letGo(): void {
  const all = held;
  held = [];
  for (const socket of all) socket.uncork();
}
