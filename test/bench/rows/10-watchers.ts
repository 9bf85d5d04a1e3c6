import type { Bench } from '../bench.js';
import { people } from '../people.js';
import { cpuPerOperation, type Row, type Side } from '../row.js';
import { loadedSide } from '../side.js';
import { type Served, startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';
import { event } from '../specimen.js';

const operators = 50;
const each = 20;
const watchers = operators * each;
const warm = { operations: 200 };
const shared = { ours: 'vestibule', peer: 'raw', is: '≤' } as const;

/**
 * One change sent to a thousand watchers, twenty times a second, against node:http writing the same
 * chunk to as many.
 */
export const watching: Row = {
  seconds: 10, // twenty changes a second: fewer say nothing of the slowest of a hundred
  slice: 1,
  metrics: [
    {
      ...shared,
      id: '10a',
      workload: 'delivery to one of 1,000',
      unit: 'µs',
      of: (sample) => cpuPerOperation(sample) / watchers,
      gate: 1.5,
      stretch: 1.1,
    },
    {
      ...shared,
      id: '10b',
      workload: 'delivery to the last of 1,000, p99',
      unit: 'ms',
      of: ({ p99 }) => p99 * 1000,
      gate: 1.5,
      stretch: 1.2,
    },
    {
      id: '10c',
      workload: 'memory a watcher',
      unit: 'kB',
      ours: 'vestibule',
      of: ({ values }) => values!.perWatcher! / 1024,
      is: '≤',
      gate: 40,
      stretch: 24,
    },
  ],
  async open(bench) {
    const folder = bench.newFolder('watching');
    const emails = Array.from({ length: operators }, (_, i) => `person-${i}@bench.test`);
    const server = await startVestibule(bench, folder, [
      '--data-dir',
      `${folder}/data`,
      '--operators',
      emails.join(),
    ]);
    const all = await people(server.port, operators);
    const [first] = all;
    const path = `/api/v1beta1/accounts/${first!.name}`;
    const { metadata } = await first!.browser.fetch('/api/v1beta1/accounts?limit=1');
    const watches = all.map(({ browser }, i) => ({
      request: browser.bytes(
        'GET',
        `/api/v1beta1/accounts?watch=true&timeoutSeconds=3600&resourceVersion=${metadata.resourceVersion}`,
      ),
      from: `127.0.2.${1 + i}`,
    }));
    const body = JSON.stringify({ spec: { displayName: 'Person number %N' } });
    const change = first!.browser
      .bytes('PATCH', path, { 'Content-Type': 'application/merge-patch+json' }, body)
      .replace(/Content-Length: \d+/, `Content-Length: ${body.length + 5}`);
    const raw = await startPeer(bench, 'broadcast', {
      SPECIMEN: event(await first!.browser.fetch(path)),
    });
    const rawChange = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';
    const rawWatches = watches.map(({ from }) => ({
      request: 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
      from,
    }));
    for (const { connection } of all) connection.close();
    return [
      await side(bench, 'vestibule', server, { port: server.port, watches, each, change }),
      await side(bench, 'raw', raw, {
        port: raw.port,
        watches: rawWatches,
        each,
        change: rawChange,
      }),
    ];
  },
};

/** A side that knows what its watchers added to resident memory. */
async function side(bench: Bench, name: string, server: Served, args: unknown): Promise<Side> {
  const before = (await server.child.usage()).rss;
  const loaded = await loadedSide(bench, { name, server, load: 'watchers', args, warm });
  const perWatcher = ((await server.child.usage()).rss - before) / watchers;
  return {
    ...loaded,
    sample: async (seconds) => ({ ...(await loaded.sample(seconds)), values: { perWatcher } }),
  };
}
