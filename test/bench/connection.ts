import { connect, type Socket } from 'node:net';

/** One answer as it came. */
export interface Answer {
  readonly code: number;
  readonly head: string;
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const empty = Buffer.alloc(0);

/**
 * A kept-alive HTTP/1.1 connection that carries one exchange at a time and costs the client next to
 * nothing; made again where the server let go of it.
 */
export class Connection {
  /** How many answers came on all of them. */
  static answers = 0;
  readonly #port: number;
  readonly #from: string;
  #socket: Socket | undefined;
  #held: Buffer = empty;
  #resolve: (answer: Answer) => void = () => {};
  #reject: (error: Error) => void = () => {};

  private constructor(port: number, from: string) {
    this.#port = port;
    this.#from = from;
  }

  /** Connects from a loopback address, which stands for the network a browser is on. */
  static async open(port: number, from = '127.0.0.1'): Promise<Connection> {
    const connection = new Connection(port, from);
    await connection.#connect();
    return connection;
  }

  /** Sends the bytes of a request and resolves with the answer to it. */
  async exchange(request: Buffer | string): Promise<Answer> {
    const socket = this.#socket ?? (await this.#connect());
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      const socket = connect(
        { port: this.#port, host: '127.0.0.1', localAddress: this.#from, noDelay: true },
        () => resolve((this.#socket = socket)),
      );
      socket.on('data', (chunk: Buffer) => this.#take(chunk));
      socket.on('error', (error) => this.#reject(error));
      socket.on('close', () => {
        this.#socket = undefined;
        this.#reject(new Error('the connection was closed'));
      });
    });
  }

  #take(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = this.#held.indexOf(headEnd);
    if (end < 0) return;
    const head = this.#held.toString('latin1', 0, end);
    const answer = bodyOf(head, this.#held, end + 4);
    if (!answer) return;
    this.#held = empty;
    Connection.answers += 1;
    this.#resolve({ code: Number(head.slice(9, 12)), head, body: answer });
  }
}

/** The body once all of it is there. */
function bodyOf(head: string, held: Buffer, start: number): Buffer | undefined {
  const length = headerOf(head, 'content-length');
  if (length !== undefined) {
    return held.length - start >= Number(length)
      ? held.subarray(start, start + Number(length))
      : undefined;
  }
  if (headerOf(head, 'transfer-encoding') !== 'chunked') return empty;
  return held.subarray(-5).equals(lastChunk) ? joined(held, start) : undefined;
}

function joined(held: Buffer, start: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const line = held.indexOf('\r\n', at);
    const size = parseInt(held.toString('latin1', at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(held.subarray(line + 2, line + 2 + size));
    at = line + 4 + size;
  }
}

/** The value of a header of an answer's head; the case of its name does not matter. */
export function headerOf(head: string, name: string): string | undefined {
  const at = head.toLowerCase().indexOf(`\r\n${name}: `);
  if (at < 0) return undefined;
  const start = at + name.length + 4;
  const end = head.indexOf('\r\n', start);
  return head.slice(start, end < 0 ? undefined : end);
}

/** Every value of a header that may stand more than once. */
export const headersOf = (head: string, name: string): string[] =>
  head
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name}: `))
    .map((line) => line.slice(name.length + 2));

/** The bytes of a request. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const length = method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${length}\r\n${body}`;
}
