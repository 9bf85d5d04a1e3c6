import { join } from 'node:path';
import { seed } from '../../support/random.js';
import { stopAll, temporary } from '../../support/service.js';
import { Served } from '../served.js';
import { logOfEmbedded } from './log.js';
import { operatorManifest } from './record.js';
import { historySuite, secondsOr } from './suite.js';

const seconds = secondsOr(16);

historySuite('embedded', seconds, async () => {
  const directory = temporary();
  const served = await Served.start(directory, {}, { manifest: operatorManifest });
  const end = async (): Promise<void> => {
    await served.end();
    await stopAll();
  };
  const harms = [
    {
      what: 'the process killed',
      do: async () => {
        served.kill();
        await served.up();
      },
    },
  ];
  const log = async (from: number, to: number) => {
    await served.end();
    return logOfEmbedded(join(directory, 'store'), from, to);
  };
  return {
    end,
    plan: {
      seed,
      seconds,
      places: [served],
      harms,
      about: `one process on the embedded store, Node ${process.version}`,
      log,
    },
  };
});
