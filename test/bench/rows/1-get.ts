import { headersOf } from '../connection.js';
import { passkeyOf } from '../passkey.js';
import { people } from '../people.js';
import { cpuPerOperation, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { startPeer } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';

const inFlight = 32;
const warm = { seconds: 2 };
const shared = {
  workload: 'get passkey',
  unit: 'µs',
  ours: 'vestibule',
  of: cpuPerOperation,
  is: '≤',
} as const;
const ofNode = new Set(['date', 'connection', 'keep-alive']);

/**
 * GET of one's own passkey with the session's cookie: against node:http with the same bytes, and
 * against an Express route.
 */
export const get: Row = {
  slice: 0.5,
  metrics: [
    { ...shared, id: '1a', peer: 'raw', gate: 3.0, stretch: 2.2 },
    {
      ...shared,
      id: '1b',
      peer: 'express',
      gate: { 20: 0.5, 24: 1.2 },
      stretch: { 20: 0.33, 24: 0.9 },
    },
  ],
  async open(bench) {
    const server = await startVestibule(bench, bench.newFolder('get'));
    const all = await people(server.port, inFlight);
    const requests = await Promise.all(
      all.map(async (person) =>
        person.browser.bytes('GET', await passkeyOf(person, `http://localhost:${server.port}`)),
      ),
    );
    const { head, body } = await all[0]!.connection.exchange(requests[0]!);
    const names = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.slice(0, line.indexOf(':')))
      .filter((name) => !ofNode.has(name.toLowerCase()));
    const SPECIMEN = JSON.stringify({
      headers: names.flatMap((name) => [name, headersOf(head, name.toLowerCase())[0]!]),
      body: body.toString(),
    });
    for (const { connection } of all) connection.close();
    const [raw, express] = [
      await startPeer(bench, 'raw', { SPECIMEN }),
      await startPeer(bench, 'express', { SPECIMEN }),
    ];
    const side = (name: string, on: typeof server) =>
      loadedSide(bench, {
        name,
        server: on,
        load: 'get',
        args: { port: on.port, requests, expect: '"kind":"Passkey"' },
        warm,
      });
    return [
      await side('vestibule', server),
      await side('raw', raw),
      await side('express', express),
    ];
  },
};
