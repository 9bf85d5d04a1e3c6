import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server, Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WatchFrame } from '../../../apiserver/handlers/watch/watch-frame.js';
import { ApiRequest, ApiResponse } from '../../../apiserver/http/message.js';
import { makeCertificate } from '../../support/cluster/issue-certificate.js';
import fc from '../../support/fast-check.js';
import { settles } from '../../support/patience.js';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0).reverse()) one.close();
});

const pair = makeCertificate(['localhost', '127.0.0.1'], Date.now());

/**
 * What is asked for: a stream that the test writes to, or an answer that it gives when it likes.
 */
interface Asked {
  readonly req: ApiRequest;
  readonly res: ApiResponse;
}

/** A server whose every answer to /watch has its head sent and is left to the test. */
class Teller {
  readonly asked: Asked[] = [];
  readonly #server: Server;
  readonly #secure: boolean;

  private constructor(secure: boolean) {
    this.#secure = secure;
    const options = { IncomingMessage: ApiRequest, ServerResponse: ApiResponse };
    const serve = (req: ApiRequest, res: ApiResponse): void => {
      if (req.url === '/watch') {
        res.writeHead(200, ['Content-Type', 'application/json']);
        res.flushHeaders();
      }
      this.asked.push({ req, res });
      if (req.url === '/after') res.end('after');
    };
    this.#server = secure
      ? createSecureServer({ ...options, ...pair }, serve)
      : createServer(options, serve);
  }

  static async start(secure = false): Promise<Teller> {
    const teller = new Teller(secure);
    await new Promise<void>((resolve) => {
      teller.#server.listen(0, '127.0.0.1', resolve);
    });
    open.push({ close: () => teller.#server.close() });
    return teller;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  client(allowHalfOpen = false): Client {
    const socket = this.#secure
      ? connectSecurely({
          port: this.port,
          host: '127.0.0.1',
          ca: pair.cert,
          servername: 'localhost',
        })
      : connect({ port: this.port, host: '127.0.0.1', allowHalfOpen });
    return new Client(socket);
  }

  async res(which = 0): Promise<ApiResponse> {
    return (await settles(
      async () => this.asked[which],
      (one) => one !== undefined,
    ))!.res;
  }
}

/** A client that takes the bytes as they are. */
class Client {
  text = '';
  ended = false;
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    open.push({ close: () => socket.destroy() });
    socket
      .setEncoding('latin1')
      .on('data', (text: string) => {
        this.text += text;
      })
      .on('end', () => {
        this.ended = true;
      })
      .on('error', () => {});
  }

  ask(...lines: string[]): this {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return this;
  }
  until(holds: (text: string) => boolean): Promise<string> {
    return settles(async () => this.text, holds);
  }
}

const watch = ['GET /watch HTTP/1.1', 'Host: localhost'];
const line = (text: string, type = 'ADDED'): WatchFrame =>
  new WatchFrame(type, Buffer.from(JSON.stringify(text)));
const said = (text: string, type = 'ADDED'): string =>
  `{"type":"${type}","object":${JSON.stringify(text)}}\n`;
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/**
 * One answer in chunks as RFC 9112 7.1 has it, strictly: what it says, in which pieces, and what
 * follows it on the connection.
 */
function decoded(text: string): { head: string; pieces: string[]; whole: boolean; rest: string } {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const pieces: string[] = [];
  for (let at = end + 4; ; ) {
    const [size, digits] = /^([0-9a-f]+)\r\n/.exec(text.slice(at, at + 20)) ?? [];
    if (!size) {
      if (at !== text.length) throw new Error(`no chunk: ${text.slice(at, at + 100)}`);
      return { head, pieces, whole: false, rest: '' };
    }
    const [from, length] = [at + size.length, Number.parseInt(digits!, 16)];
    if (text.slice(from + length, from + length + 2) !== '\r\n') {
      throw new Error(`a chunk without its end: ${text.slice(at, at + 100)}`);
    }
    at = from + length + 2;
    if (length === 0) return { head, pieces, whole: true, rest: text.slice(at) };
    pieces.push(Buffer.from(text.slice(from, from + length), 'latin1').toString());
  }
}

/** Records the pieces that are written to a socket. */
function overheard(socket: Socket): Buffer[] {
  const heard: Buffer[] = [];
  const { write } = socket;
  socket.write = ((chunk: Buffer | string, ...rest: never[]) => {
    heard.push(Buffer.from(chunk));
    return write.call(socket, chunk, ...rest);
  }) as typeof socket.write;
  return heard;
}

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
] as const)('a line, over %s', (_, secure) => {
  test('is given to the socket in one piece, framed once for all watches', async () => {
    const teller = await Teller.start(secure);
    const clients = [teller.client().ask(...watch), teller.client().ask(...watch)];
    const answers = [await teller.res(0), await teller.res(1)];
    const heard = answers.map(({ socket }) => overheard(socket!));
    const [first, second] = [line('one'), line('two', 'MODIFIED')];
    for (const res of answers) {
      first.sendTo(res);
      second.sendTo(res);
    }
    expect(answers.map(({ socket }) => socket!.writableCorked)).toEqual([1, 1]);
    await turn();
    expect(answers.map(({ socket }) => socket!.writableCorked)).toEqual([0, 0]);
    const frames = [said('one'), said('two', 'MODIFIED')].map(
      (one) => `${one.length.toString(16)}\r\n${one}\r\n`,
    );
    for (const pieces of heard) expect(pieces.map(String)).toEqual(frames);
    for (const client of clients) {
      expect(decoded(await client.until((text) => text.includes('two"}\n\r\n'))).pieces).toEqual([
        said('one'),
        said('two', 'MODIFIED'),
      ]);
    }
  });

  test('stands in its place among what else is written, the last chunk behind it', async () => {
    const teller = await Teller.start(secure);
    const client = teller.client().ask(...watch);
    const res = await teller.res();
    res.write('\n');
    line('one').sendTo(res);
    res.write('\n');
    line('é😀').sendTo(res);
    await turn();
    line('two').sendTo(res);
    res.cork();
    res.write('held');
    line('three').sendTo(res);
    res.uncork();
    line('four').sendTo(res);
    res.end('end');
    line('too late').sendTo(res);
    client.ask('GET /after HTTP/1.1', 'Host: localhost');
    const { head, pieces, whole, rest } = decoded(
      await client.until((text) => text.endsWith('after')),
    );
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Transfer-Encoding: chunked(\r\n|$)/);
    expect([pieces.join(''), whole]).toEqual([
      [
        '\n',
        said('one'),
        '\n',
        said('é😀'),
        said('two'),
        'held',
        said('three'),
        said('four'),
        'end',
      ].join(''),
      true,
    ]);
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*after$/);
  });

  test('waits for its turn behind an unanswered request on the connection', async () => {
    const teller = await Teller.start(secure);
    const client = teller
      .client()
      .ask('GET /before HTTP/1.1', 'Host: localhost')
      .ask(...watch)
      .ask('GET /after HTTP/1.1', 'Host: localhost');
    const res = await teller.res(1);
    expect(res.socket).toBeNull();
    line('early').sendTo(res);
    await turn();
    expect(client.text).toBe('');
    (await teller.res(0)).end('before');
    line('at once').sendTo(res);
    await client.until((text) => text.includes('at once'));
    line('later').sendTo(res);
    await client.until((text) => text.includes('later'));
    expect(client.text).not.toContain('after');
    res.end();
    const text = await client.until((all) => all.endsWith('after'));
    const from = text.indexOf('HTTP/1.1', 1);
    expect(text.slice(0, from)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*before$/);
    const { pieces, whole, rest } = decoded(text.slice(from));
    expect([pieces, whole]).toEqual([[said('early'), said('at once'), said('later')], true]);
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*after$/);
  });

  test('reaches a reader that stops and goes on, whole and in order', async () => {
    const teller = await Teller.start(secure);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            size: fc.nat({ max: 60_000 }),
            how: fc.constantFrom('line', 'line', 'line', 'write', 'turn', 'pause', 'resume'),
          }),
          { maxLength: 120 },
        ),
        async (steps) => {
          const before = teller.asked.length;
          const client = teller.client().ask(...watch);
          const res = await teller.res(before);
          let expected = '';
          for (const [i, { size, how }] of steps.entries()) {
            const text = `${i} ${'x'.repeat(size)}`;
            if (how === 'line') {
              line(text).sendTo(res);
              expected += said(text);
            } else if (how === 'write') {
              res.write(text);
              expected += text;
            } else if (how === 'turn') {
              await turn();
            } else {
              client.socket[how]();
            }
          }
          client.socket.resume();
          res.end();
          await client.until((text) => text.endsWith('0\r\n\r\n'));
          const { pieces, whole, rest } = decoded(client.text);
          expect([pieces.join('') === expected, whole, rest]).toEqual([true, true, '']);
          client.socket.destroy();
        },
      ),
      { numRuns: 25 },
    );
  }, 120_000);

  test('that a reader does not take is counted and waited for like everything else', async () => {
    const teller = await Teller.start(secure);
    const client = teller.client().ask(...watch);
    const res = await teller.res();
    await client.until((text) => text.includes('\r\n\r\n'));
    client.socket.pause();
    const large = line('x'.repeat(1 << 20));
    const { socket } = res;
    let sent = 0;
    for (; sent < 40 && res.writableLength < 2 << 20; sent += 1) {
      large.sendTo(res);
      await turn();
    }
    expect([
      res.writableLength >= 2 << 20,
      res.writableLength === socket!.writableLength,
      socket!.writableNeedDrain,
    ]).toEqual([true, true, true]);
    const drained = new Promise((resolve) => {
      socket!.once('drain', resolve);
    });
    client.socket.resume();
    await drained;
    expect(res.writableLength).toBe(0);
    res.end();
    expect(decoded(await client.until((text) => text.endsWith('0\r\n\r\n'))).pieces).toHaveLength(
      sent,
    );
  });
});

describe('a line', () => {
  test('goes unframed to those for whom node frames nothing', async () => {
    const teller = await Teller.start();
    for (const [i, version] of ['HTTP/1.0', 'HTTP/1.0\r\nConnection: keep-alive'].entries()) {
      const client = teller.client().ask(`GET /watch ${version}`);
      const res = await teller.res(i);
      for (const text of ['one', 'two']) {
        line(text).sendTo(res);
        await turn();
      }
      res.end();
      await settles(async () => client.ended, Boolean);
      const [head, body] = client.text.split('\r\n\r\n') as [string, string];
      expect([head.toLowerCase().includes('transfer-encoding'), body]).toEqual([
        false,
        said('one') + said('two'),
      ]);
    }
  });

  test('is sent in chunks if the connection is to close or TE asks for it', async () => {
    const teller = await Teller.start();
    for (const [i, asking] of [
      [...watch, 'Connection: close'],
      ['GET /watch HTTP/1.0', 'TE: chunked'],
    ].entries()) {
      const client = teller.client().ask(...asking);
      const res = await teller.res(i);
      for (const text of ['one', 'two']) {
        line(text).sendTo(res);
        await turn();
      }
      res.end();
      await settles(async () => client.ended, Boolean);
      const { pieces, whole, rest } = decoded(client.text);
      expect([pieces, whole, rest]).toEqual([[said('one'), said('two')], true, '']);
    }
  });

  test('is no part of an answer to HEAD', async () => {
    const teller = await Teller.start();
    const client = teller.client().ask('HEAD /watch HTTP/1.1', 'Host: localhost');
    const res = await teller.res();
    line('one').sendTo(res);
    await turn();
    res.end();
    const text = await client
      .ask('GET /after HTTP/1.1', 'Host: localhost')
      .until((all) => all.endsWith('after'));
    expect(text).not.toContain('ADDED');
    expect(text.split('HTTP/1.1 200 OK')).toHaveLength(3);
  });

  test('to a connection that is ended, cut or gone does nothing, and nothing fails', async () => {
    const teller = await Teller.start();
    const half = teller.client(true).ask(...watch);
    const toHalf = await teller.res(0);
    half.socket.end();
    await settles(
      async () => toHalf.socket?.writable,
      (writable) => !writable,
    );
    line('to half a connection').sendTo(toHalf);
    const cut = teller.client().ask(...watch);
    const toCut = await teller.res(1);
    await cut.until((text) => text.includes('\r\n\r\n'));
    line('held').sendTo(toCut);
    toCut.socket!.destroy();
    line('to no one').sendTo(toCut);
    await settles(async () => toCut.destroyed && toHalf.destroyed, Boolean);
    for (const res of [toHalf, toCut]) line('to no one any more').sendTo(res);
    await turn();
    expect(
      [half.text, cut.text].map((text) => text.includes('no one') || text.includes('half')),
    ).toEqual([false, false]);
  });

  test('is what node’s own client reads', async () => {
    const teller = await Teller.start();
    const body = await new Promise<string>((resolve, reject) => {
      request(
        { port: teller.port, host: '127.0.0.1', path: '/watch', agent: false },
        (answer: IncomingMessage) => {
          let text = '';
          answer
            .setEncoding('utf8')
            .on('data', (part: string) => {
              text += part;
            })
            .on('end', () => resolve(text))
            .on('error', reject);
        },
      )
        .on('error', reject)
        .end();
      teller.res().then((res) => {
        for (let i = 0; i < 300; i += 1) line(`é ${i}`).sendTo(res);
        res.end();
      }, reject);
    });
    expect(body).toBe(Array.from({ length: 300 }, (_, i) => said(`é ${i}`)).join(''));
  });
});
