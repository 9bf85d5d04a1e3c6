import type { Duplex } from 'node:stream';
import type { ApiRequest, ApiResponse } from './message.js';

/**
 * The queue of a connection: pipelined responses that wait for earlier ones, and whether a
 * malformed message was received.
 */
interface ConnectionQueue {
  readonly responses: ApiResponse[];
  isBroken: boolean;
}

const connections = new WeakMap<Duplex, ConnectionQueue>();

function queueOf(socket: Duplex): ConnectionQueue {
  let waiting = connections.get(socket);
  if (!waiting) {
    waiting = { responses: [], isBroken: false };
    connections.set(socket, waiting);
  }
  return waiting;
}

/** Returns the response that Node is sending on a connection. */
const currentResponse = (socket: Duplex): ApiResponse | undefined =>
  (socket as { _httpMessage?: ApiResponse })._httpMessage;

/** Returns true while part of a request has arrived that the parser reads from a connection. */
const isReceiving = (socket: Duplex): boolean =>
  (socket as { parser?: { incoming?: ApiRequest | null } }).parser?.incoming?.complete === false;

/** Returns true while the rest of a request is awaited that has no response yet. */
export const isAwaitingRequest = (socket: Duplex): boolean =>
  isReceiving(socket) && currentResponse(socket)?.headersSent === false;

/** Returns true while a request is being answered, and the client has taken what was sent of it. */
export const isAwaitingAnswer = (socket: Duplex): boolean =>
  currentResponse(socket) !== undefined && socket.writableLength === 0;

/**
 * Serves pipelined requests of a connection in order (RFC 9112 §9.3.2), so that none runs after a
 * response that closes the connection: Node assigns a response its socket after the previous one,
 * and never after one that closes. Nothing more is read while a request waits.
 */
export function servePipelined(
  req: ApiRequest,
  res: ApiResponse,
  serve: (req: ApiRequest, res: ApiResponse) => void,
): void {
  const { socket } = req;
  if (res.socket) {
    if (socket.writable) serve(req, res);
    return;
  }
  const queue = queueOf(socket);
  queue.responses.push(res);
  socket.pause();
  res.once('socket', () => {
    queue.responses.shift();
    if (queue.responses.length === 0 && !queue.isBroken) socket.resume();
    process.nextTick(serve, req, res);
  });
}

/**
 * Calls `respond` for a malformed message after the earlier requests are answered. Closes the
 * connection if the response to it has already started or been sent.
 */
export function respondToMalformed(socket: Duplex, respond: () => void): void {
  const waiting = queueOf(socket);
  if (waiting.isBroken) return;
  waiting.isBroken = true;
  const current = currentResponse(socket);
  const last = waiting.responses.at(-1) ?? current;
  if (!last) return isReceiving(socket) ? void socket.end() : respond();
  if (last.req.complete) {
    return void last.once('close', () => {
      if (socket.writable) respond();
    });
  }
  if (last !== current) return void last.removeAllListeners('socket').once('socket', respond);
  if (last.headersSent) {
    socket.destroy();
  } else {
    respond();
  }
}
