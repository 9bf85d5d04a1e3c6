import { Browser, locationOf } from '../browser.js';
import { Chromium, chromiumPath } from '../chromium.js';
import { Connection } from '../connection.js';
import { authorization } from '../flow.js';
import { type Metric, type Row, type Sample, Skip } from '../row.js';
import { startVestibule } from '../sides/vestibule.js';
import { type Visit, visit } from '../visit.js';

const roundTrip = 150;
const slower = 4;

/**
 * Opens the sign-in page in a browser that has seen nothing, as after the redirect from a Client.
 */
async function open(chromium: Chromium, port: number): Promise<Sample> {
  const origin = `http://localhost:${port}`;
  const connection = await Connection.open(port);
  const browser = new Browser(connection, origin);
  const interaction = await browser.navigate(
    locationOf(await browser.navigate(authorization('/oauth2/auth', {}).target, 303)),
    303,
  );
  connection.close();
  const cold = (speed: number): Promise<Visit> =>
    visit(chromium, origin + locationOf(interaction), browser.cookies, 'input[type=email]', {
      roundTrip,
      slower: speed,
    });
  const [{ requests, bytes, ready }, { script }] = [await cold(slower), await cold(1)];
  return {
    operations: 1,
    seconds: ready / 1000,
    cpuMicros: 0,
    p50: ready / 1000,
    p99: ready / 1000,
    rss: 0,
    values: { gz: bytes / 1000, requests, ready, script: script * slower },
  };
}

const of = (name: string): Pick<Metric, 'of' | 'is' | 'ours'> => ({
  of: ({ values }) => values![name]!,
  is: '≤',
  ours: 'vestibule',
});

/**
 * The sign-in page, cold, on a slow line and a slow processor, against a fixed budget; from the
 * navigation to the page, after the Client's redirect, until its field takes letters. Counted: the
 * requests begun before the field stood in the document, the bodies of their answers as they
 * travelled, and all script that ran until then, the observer that takes the time included. Not
 * counted: headers, and what the browser and the page fetch later. Script is the main thread's own
 * time at full speed, times the slowness: the browser's brake also stretches all other work of the
 * machine in between.
 */
export const page: Row = {
  metrics: [
    { ...of('gz'), id: '13a', workload: 'sign-in page, gz', unit: 'kB', gate: 20, stretch: 12 },
    {
      ...of('requests'),
      id: '13b',
      workload: 'sign-in page, requests',
      unit: '',
      gate: 4,
      stretch: 2,
    },
    {
      ...of('ready'),
      id: '13c',
      workload: 'sign-in page, ready to type',
      unit: 'ms',
      gate: 1000,
      stretch: 450,
    },
    {
      ...of('script'),
      id: '13d',
      workload: 'sign-in page, script',
      unit: 'ms',
      gate: 60,
      stretch: 30,
    },
  ],
  async open(bench) {
    const path = chromiumPath();
    if (!path) throw new Skip('Chromium is not installed');
    const server = await startVestibule(bench, bench.newFolder('page'));
    const chromium = new Chromium(path, bench.newFolder('profile'));
    return [
      {
        name: 'vestibule',
        sample: () => open(chromium, server.port),
        async stop() {
          await chromium.stop();
          await server.stop();
        },
      },
    ];
  },
};
