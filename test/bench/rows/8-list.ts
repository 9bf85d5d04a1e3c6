import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { headersOf } from '../connection.js';
import { type Filled, pagesOfAccounts, storeWith } from '../filled.js';
import { cpuPerOperation, type Row, type Sample, type Side } from '../row.js';
import { loadedSide } from '../side.js';
import { startPeer } from '../sides/peer.js';

const counts = { small: 1_000, middle: 100_000, large: 1_000_000 } as const;
const inFlight = 8;
const mark = '"kind":"Account"';
const warm = { operations: 3_000 };
const ofNode = new Set(['date', 'connection', 'keep-alive']);
const shared = { unit: 'µs', of: cpuPerOperation, is: '≤' } as const;

/**
 * A page of a hundred among a thousand, a hundred thousand and a million objects, against node:http
 * with the same bytes.
 */
export const listPage: Row = {
  slice: 0.5,
  metrics: [
    {
      ...shared,
      id: '8a',
      workload: 'list 100 of 1 k',
      ours: '1 k',
      peer: 'raw',
      gate: 3,
      stretch: 2,
    },
    {
      ...shared,
      id: '8b',
      workload: 'list 100 of 100 k',
      ours: '100 k',
      peer: 'raw',
      gate: 3,
      stretch: 2,
    },
    {
      ...shared,
      id: '8c',
      workload: 'list 100, growth 1 k to 1 M',
      ours: '1 M',
      peer: '1 k',
      gate: 2,
      stretch: 1.5,
    },
  ],
  async open(bench) {
    const stores = [
      ['1 k', counts.small],
      ['100 k', counts.middle],
      ['1 M', counts.large],
    ] as const;
    const sides: Side[] = [];
    let SPECIMEN = '';
    for (const [name, count] of stores) {
      const filled = await storeWith(bench, count);
      const requests = pagesOfAccounts(filled, inFlight);
      const { head, body } = await filled.operator.connection.exchange(requests[0]!);
      const names = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.slice(0, line.indexOf(':')))
        .filter((one) => !ofNode.has(one.toLowerCase()));
      SPECIMEN = JSON.stringify({
        headers: names.flatMap((name) => [name, headersOf(head, name.toLowerCase())[0]!]),
        body: body.toString(),
      });
      sides.push(
        await loadedSide(bench, {
          name,
          server: filled.served,
          load: 'get',
          args: { port: filled.served.port, requests, expect: '"kind":"AccountList"' },
          warm,
        }),
      );
    }
    const raw = await startPeer(bench, 'raw', { SPECIMEN });
    const requests = Array.from(
      { length: inFlight },
      () => 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    return [
      ...sides,
      await loadedSide(bench, {
        name: 'raw',
        server: raw,
        load: 'get',
        args: { port: raw.port, requests, expect: '"kind":"AccountList"' },
        warm,
      }),
    ];
  },
};

/**
 * What the whole list of a hundred thousand adds to resident memory while it is sent, over what a
 * page left.
 */
export const listWhole: Row = {
  metrics: [
    {
      id: '8d',
      workload: 'list 100 k at once, memory',
      unit: 'MB',
      ours: 'vestibule',
      of: ({ values }) => values!.added! / 2 ** 20,
      is: '≤',
      gate: 64,
      stretch: 16,
    },
  ],
  async open(bench) {
    const filled = await storeWith(bench, counts.middle);
    return [
      { name: 'vestibule', sample: () => wholeList(filled), stop: () => filled.served.stop() },
    ];
  },
};

async function wholeList({ served, operator }: Filled): Promise<Sample> {
  for (let i = 0; i < 20; i += 1) {
    await operator.connection.exchange(
      operator.browser.bytes('GET', '/api/v1beta1/accounts?limit=100'),
    );
  }
  await pause(2_000);
  const before = (await served.child.usage()).rss;
  const state = { most: 0, done: false };
  const listed = streamed(
    served.port,
    operator.browser.bytes('GET', '/api/v1beta1/accounts'),
  ).finally(() => {
    state.done = true;
  });
  while (!state.done) {
    state.most = Math.max(state.most, (await served.child.usage()).rss);
    await pause(20);
  }
  const items = await listed;
  if (items < counts.middle) throw new Error(`the list had ${items} objects`);
  return {
    operations: 1,
    seconds: 1,
    cpuMicros: 0,
    p50: 0,
    p99: 0,
    rss: state.most,
    values: { added: state.most - before },
  };
}

/** How many accounts an answer has, which is let go of as it comes. */
const streamed = (port: number, bytes: string): Promise<number> =>
  new Promise((resolve, reject) => {
    let [items, rest] = [0, ''];
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(bytes);
    });
    socket.on('error', reject).on('close', () => reject(new Error('the list broke off')));
    socket.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString('latin1');
      items += text.split(mark).length - 1;
      rest = text.slice(1 - mark.length);
      if (text.endsWith('\r\n0\r\n\r\n')) {
        socket.removeAllListeners('close').destroy();
        resolve(items);
      }
    });
  });
