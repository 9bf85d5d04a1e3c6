import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { features, hasFeature, Kinds } from '../library/wardle/features.js';
import { end, memoryOf, type Started } from '../library/wardle/way.js';
import { KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { stopAll } from '../support/service.js';
import { waysOf } from './wardle.js';

jest.setTimeout(600_000);

let cluster: KubeAPIServer;
const ways = await waysOf(() => cluster);

/** What was measured and seen of a way. */
class Measured {
  /** Of each start and declaration, in milliseconds. */
  readonly starts: number[] = [];
  readonly cpu: number[] = [];
  readonly declared: number[] = [];
  /** In MB. */
  memory = 0;
  readonly features: Record<string, boolean> = {};
}

const measured: Record<string, Measured> = {};
const starts = Number(process.env.LIBRARIES_STARTS ?? 1);

beforeAll(async () => {
  cluster = await KubeAPIServer.start();
});
afterAll(async () => {
  await cluster?.stop();
  await stopAll();
  const file = process.env.LIBRARIES_MEASURED;
  if (file !== undefined) writeFileSync(file, JSON.stringify(measured));
});

describe.each(ways)('$name', (way) => {
  let started: Started;
  let kinds: Kinds;

  beforeAll(async () => {
    const result = new Measured();
    for (let i = 0; i < starts; i += 1) {
      if (started !== undefined) await end(started);
      started = await way.start();
      result.starts.push(started.ms);
      result.cpu.push(started.cpuMs);
      if (way.declare) result.declared.push(await way.declare());
    }
    measured[way.name] = result;
    kinds = new Kinds(way);
  });
  afterAll(async () => {
    if (process.env.LIBRARIES_MEASURED !== undefined) {
      await new Promise((resolve) => {
        setTimeout(resolve, 15_000);
      });
    }
    measured[way.name]!.memory = memoryOf(started);
    await end(started);
  });

  test.each(features)('%s', async (feature, has) => {
    const seen = await has(kinds);
    measured[way.name]!.features[feature] = seen;
    expect(seen).toBe(hasFeature(way, feature));
  });
});
