import type { Socket } from 'node:net';
import type { ApiResponse } from '../../http/message.js';

const lineEnd = Buffer.from('}\n');
const chunkEnd = Buffer.from('\r\n');

/**
 * One event of a stream: a line of JSON, encoded as an HTTP chunk once for all watchers (RFC 9112
 * §7.1).
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

  /** The line without the chunk framing. */
  get bytes(): Buffer {
    return this.#chunk.subarray(this.#begin, -chunkEnd.length);
  }

  /**
   * Sends the event together with other writes of this turn of the event loop. Writes the chunk
   * directly to the socket if Node would frame and send the same bytes; otherwise (HTTP/1.0, HEAD,
   * an earlier response on the connection, a half-closed socket) Node frames the line.
   */
  sendTo(res: ApiResponse): void {
    if (res.destroyed || res.writableEnded) return;
    const { socket } = res;
    if (!socket?.writable || !res.chunkedEncoding || res.writableLength !== socket.writableLength) {
      return void res.write(this.bytes);
    }
    corkUntilNextTick(socket);
    socket.write(this.#chunk);
  }
}

/** The sockets that are corked until the end of this turn. */
let corkedSockets: Socket[] = [];

function corkUntilNextTick(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  if (corkedSockets.push(socket) === 1) process.nextTick(uncorkAll);
}

function uncorkAll(): void {
  const sockets = corkedSockets;
  corkedSockets = [];
  for (const socket of sockets) socket.uncork();
}
