import { openEmbedded } from '../../storage/embedded/embedded.js';
import { everything } from './drive.js';

/** Reads all keys of a store, by list and one by one, and prints each entry as key and value. */
const [directory, ...keys] = process.argv.slice(2);
const storage = await openEmbedded({ directory: directory! });
const { entries } = await storage.list(everything);
const single = await Promise.all(keys.map((key) => storage.get(key)));
const found = [...entries, ...single.flatMap(({ entry }) => entry ?? [])];
await storage.close();
process.stdout.write(
  `${JSON.stringify(found.map(({ key, value }) => [key, value.toString('latin1')]))}\n`,
);
