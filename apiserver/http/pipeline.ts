import type { Duplex } from 'node:stream';
import type { ApiRequest, ApiResponse } from './message.js';

/**
 * What waits on a connection: answers to requests that came before the one ahead of them was
 * answered, and whether a message came that cannot be read.
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

/** The answer that node is sending on a connection. */
const currentOn = (socket: Duplex): ApiResponse | undefined =>
  (socket as { _httpMessage?: ApiResponse })._httpMessage;

/**
 * Serves the requests of a connection one after another (RFC 9112 9.3.2), so that none is carried
 * out behind an answer that closes the connection: node gives an answer its socket when the one
 * before it has left, and never after one that closes. While a request waits nothing more is read.
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
 * Answers, by `answer`, a message that cannot be read, once the requests before it are answered;
 * ends the connection where its own answer has begun.
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
