import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '../connection.js';
import type { MakeLoad } from '../load.js';

const newline = 10;
const carriage = 13;

/** Milliseconds from one change to the next. */
const cadence = 50;

/**
 * Many watchers of one server, each request of `watches` opened `each` times, and one change after
 * another: an operation is done when the last watcher has received it. `%N` in the change is a number
 * of seven digits.
 */
const make: MakeLoad<{
  port: number;
  watches: readonly { request: string; from: string }[];
  each: number;
  change: string;
}> = async ({ port, watches, each, change }) => {
  let [received, wanted] = [0, Infinity];
  let done: () => void = () => {};
  let failed: (error: Error) => void = () => {};
  const open = ({ request, from }: { request: string; from: string }) =>
    new Promise<() => void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true }, () => {
        socket.write(request);
      });
      let [head, last] = ['', 0];
      socket.on('error', reject).on('close', () => {
        failed(new Error('a watch was closed'));
      });
      socket.on('data', (chunk: Buffer) => {
        if (!head.includes('\r\n\r\n')) {
          head += chunk.toString('latin1');
          if (!head.includes('\r\n\r\n')) return;
          if (!head.startsWith('HTTP/1.1 200')) {
            reject(new Error(`answered ${head.slice(0, 300)}`));
          } else {
            resolve(() => {
              failed = () => {};
              socket.destroy();
            });
          }
          return;
        }
        for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
          if ((at === 0 ? last : chunk[at - 1]) !== carriage) received += 1;
        }
        last = chunk.at(-1)!;
        if (received >= wanted) done();
      });
    });
  const closes: (() => void)[] = [];
  for (const watch of watches) {
    closes.push(...(await Promise.all(Array.from({ length: each }, () => open(watch)))));
  }
  const connection = await Connection.open(port);
  let [count, next] = [0, 0];
  return {
    inFlight: 1,
    async operation() {
      const now = performance.now();
      if (next > now) await pause(next - now);
      const begun = performance.now();
      next = begun + cadence;
      wanted = received + closes.length;
      const all = new Promise<void>((resolve, reject) => {
        done = resolve;
        failed = reject;
      });
      const { code, body } = await connection.exchange(
        change.replaceAll('%N', String((count += 1)).padStart(7, '0')),
      );
      if (code !== 200) throw new Error(`answered ${code}: ${body.toString().slice(0, 300)}`);
      await all;
      return performance.now() - begun;
    },
    close() {
      for (const close of closes) close();
      connection.close();
    },
  };
};
export default make;
