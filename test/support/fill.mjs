/**
 * Loaded before the service into its process: at SIGUSR2 its heap of 256 MiB is filled to 88 %, and
 * emptied at the next one.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const used = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith('new_'))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
let held = [];
process.on('SIGUSR2', () => {
  const isFull = held.length > 0;
  held = [];
  collect();
  if (!isFull) {
    while (used() < 0.88 * (256 << 20)) held.push(Array.from({ length: 1 << 16 }, () => 0.5));
  }
  process.stdout.write(`${isFull ? 'emptied' : 'filled'}\n`);
});
