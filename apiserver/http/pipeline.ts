import type { Duplex } from 'node:stream';
import type { ApiRequest, ApiResponse } from './message.js';

/**
 * The queue of a connection: pipelined responses that wait for earlier ones, and whether a
 * malformed message was received.
 */
interface Waiting {
  readonly answers: ApiResponse[];
  broken: boolean;
}

const connections = new WeakMap<Duplex, Waiting>();

function waitingOn(socket: Duplex): Waiting {
  let waiting = connections.get(socket);
  if (!waiting) {
    waiting = { answers: [], broken: false };
    connections.set(socket, waiting);
  }
  return waiting;
}

/** Returns the response that Node is sending on a connection. */
const currentOn = (socket: Duplex): ApiResponse | undefined =>
  (socket as { _httpMessage?: ApiResponse })._httpMessage;

/**
 * Serves pipelined requests of a connection in order (RFC 9112 §9.3.2), so that none runs after a
 * response that closes the connection: Node assigns a response its socket after the previous one,
 * and never after one that closes. Nothing more is read while a request waits.
 */
export function serveInTurn(
  req: ApiRequest,
  res: ApiResponse,
  serve: (req: ApiRequest, res: ApiResponse) => void,
): void {
  const { socket } = req;
  if (res.socket) {
    if (socket.writable) serve(req, res);
    return;
  }
  const waiting = waitingOn(socket);
  waiting.answers.push(res);
  socket.pause();
  res.once('socket', () => {
    waiting.answers.shift();
    if (waiting.answers.length === 0 && !waiting.broken) socket.resume();
    process.nextTick(serve, req, res);
  });
}

/**
 * Calls `answer` for a malformed message after the earlier requests are answered. Destroys the
 * connection if the response to it has already started.
 */
export function answerBroken(socket: Duplex, answer: () => void): void {
  const waiting = waitingOn(socket);
  if (waiting.broken) return;
  waiting.broken = true;
  const current = currentOn(socket);
  const last = waiting.answers.at(-1) ?? current;
  if (!last) return answer();
  if (last.req.complete)
    return void last.once('close', () => {
      if (socket.writable) answer();
    });
  if (last !== current) return void last.removeAllListeners('socket').once('socket', answer);
  if (last.headersSent) socket.destroy();
  else answer();
}
