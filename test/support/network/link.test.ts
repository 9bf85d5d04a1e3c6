import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Link } from './link.js';

/** One end of a connection, with everything it received. */
class End {
  text = '';
  ended = false;
  error = '';
  readonly socket: Socket;
  constructor(socket: Socket) {
    this.socket = socket
      .setEncoding('latin1')
      .on('data', (text: string) => {
        this.text += text;
      })
      .on('end', () => {
        this.ended = true;
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        this.error = error.code!;
      });
  }
  async until(holds: (end: this) => boolean): Promise<number> {
    const from = performance.now();
    while (!holds(this)) {
      if (performance.now() - from > 10_000) {
        throw new Error(`timed out: ${this.text.length} bytes, ended ${this.ended}, ${this.error}`);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    return performance.now() - from;
  }
}

let server: Server;
let link: Link;
let served: End[];
let clients: End[];
beforeEach(async () => {
  [served, clients] = [[], []];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    served.push(new End(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  link = await Link.to((server.address() as AddressInfo).port, (head) => head[0]!);
});
afterEach(async () => {
  link.close();
  for (const { socket } of [...served, ...clients]) socket.destroy();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

const client = (): End => {
  const end = new End(connect({ port: link.port, host: '127.0.0.1', allowHalfOpen: true }));
  clients.push(end);
  return end;
};

/** A connection over which each side has heard of the other. */
async function pair(first = 'a'): Promise<[near: End, far: End]> {
  const near = client();
  near.socket.write(first);
  await near.until(() => served.some(({ text }) => text === first));
  const far = served.find(({ text }) => text === first)!;
  far.socket.write('b');
  await near.until(({ text }) => text === 'b');
  return [near, far];
}
const still = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

test('a link that is well carries everything both ways, and each side’s end by itself', async () => {
  const [near, far] = await pair();
  const much = 'x'.repeat(3 << 20);
  near.socket.end(much);
  await far.until(({ text, ended }) => ended && text.length === much.length + 1);
  expect(near.ended).toBe(false);
  far.socket.end(much);
  await near.until(({ text, ended }) => ended && text.length === much.length + 1);
  expect([link.connections, link.passed]).toEqual([
    1,
    { forth: much.length + 1, back: much.length + 1 },
  ]);
});

test('a hole one way holds that way alone, new connections too', async () => {
  const [near, far] = await pair();
  link.hole('forth');
  near.socket.write('lost');
  far.socket.write('heard');
  await near.until(({ text }) => text === 'bheard');
  const late = client();
  late.socket.write('late');
  await late.until(({ socket }) => !socket.connecting);
  await still(150);
  expect([
    far.text,
    served
      .slice(1)
      .map(({ text }) => text)
      .join(''),
    late.error,
    late.ended,
  ]).toEqual(['a', '', '', false]);
  link.mend();
  await far.until(({ text }) => text === 'alost');
  await late.until(() => served[1]?.text === 'late');
});

test('a hole for one of those who connect is none for others', async () => {
  const [[one, oneFar], [two, twoFar]] = [await pair('1'), await pair('2')];
  link.hole('both', '1');
  one.socket.write('x');
  oneFar.socket.write('x');
  two.socket.write('y');
  twoFar.socket.write('y');
  await twoFar.until(({ text }) => text === '2y');
  await two.until(({ text }) => text === 'by');
  await still(100);
  expect([one.text, oneFar.text]).toEqual(['b', '1']);
  link.mend();
  await oneFar.until(({ text }) => text === '1x');
  await one.until(({ text }) => text === 'bx');
});

test('a hole both ways keeps an end from being noticed', async () => {
  const [near, far] = await pair();
  link.hole();
  near.socket.destroy();
  far.socket.write('x');
  await still(150);
  expect([far.ended, far.error, far.socket.destroyed]).toEqual([false, '', false]);
  link.mend();
  await far.until(({ ended, error }) => ended || error !== '');
});

test('a cut resets what there is and what is tried, until it is mended', async () => {
  const [near, far] = await pair();
  link.cut();
  await near.until(({ error }) => error === 'ECONNRESET');
  await far.until(({ error }) => error === 'ECONNRESET');
  await client().until(({ error }) => error === 'ECONNRESET');
  link.mend();
  await pair('c');
});

test('what is delayed comes as much later, in order and together', async () => {
  const [near, far] = await pair();
  link.slow({ delay: 200 });
  const from = performance.now();
  for (let i = 0; i < 50; i += 1) near.socket.write(`${i} `);
  await far.until(({ text }) => text.endsWith(' 49 '));
  const delayed = performance.now() - from;
  expect(far.text).toBe(`a${Array.from({ length: 50 }, (_, i) => `${i} `).join('')}`);
  expect(delayed).toBeGreaterThanOrEqual(195);
  expect(delayed).toBeLessThan(200 * 20);
  link.slow({ rate: 40_000 });
  far.socket.write('y'.repeat(20_000));
  expect(await near.until(({ text }) => text.length === 20_001)).toBeGreaterThan(400);
});
