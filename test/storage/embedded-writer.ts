import { writeSync } from 'node:fs';
import { openEmbedded } from '../../storage/embedded/embedded.js';

const [directory, round, writers] = process.argv.slice(2) as [string, string, string];
// A small buffer, so that tables are written and the log begins again while keys are written.
const storage = await openEmbedded({ directory, writeBufferBytes: 64 << 10 });
writeSync(1, 'open\n');

/** Writes each key to standard output only after its commit was answered. */
async function write(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `round${round}/${writer}/${i}`;
    const result = await storage.commit(
      [{ key, is: 'absent' }],
      [{ put: key, value: Buffer.alloc(200 + (i % 7) * 900, i) }],
    );
    if (result.committed) writeSync(1, `${key} ${result.revision}\n`);
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, i) => write(i)));
