import { startEtcd } from '../../storage/etcd-server.js';
import { stopAll, temporary } from '../../support/service.js';
import { Served } from '../served.js';
import { pause } from './line.js';
import { logOfEtcd } from './log.js';
import { operatorManifest } from './record.js';
import { historySuite, secondsOr, seed } from './suite.js';

const seconds = secondsOr(35);

historySuite('etcd', seconds, async () => {
  const etcd = await startEtcd();
  const places = await Served.replicas(2, temporary(), etcd.endpoint, operatorManifest, () => ['--etcd-compaction-interval', '6h']).catch(async (error: unknown) => { await etcd.stop(); throw error });
  const end = async (): Promise<void> => {
    for (const place of places) await place.end();
    await etcd.stop();
    await stopAll();
  };
  const anyone = (chance: { between(low: number, high: number): number }): Served => places[chance.between(0, 1)]!;
  const harms = [
    { what: 'etcd killed', do: async (chance: { between(low: number, high: number): number }) => { await etcd.kill(); await pause(chance.between(0, 1_500)); await etcd.restart() } },
    { what: 'a replica killed', do: async (chance: { between(low: number, high: number): number }) => { const one = anyone(chance); one.kill(); await one.up() } },
    { what: 'a replica paused', do: async (chance: { between(low: number, high: number): number }) => { const one = anyone(chance); one.pause(); await pause(chance.between(1_500, 4_000)); one.resume() } },
  ];
  return { end, plan: { seed, seconds, places, harms, about: `two replicas on etcd ${etcd.version}, Node ${process.version}`, log: (from, to) => logOfEtcd(etcd.endpoint, from, to) } };
});
