import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { Skip } from './row.js';

/** Where a peer that is built apart lies; throws {@link Skip} with the command that builds it. */
export function builtPeer({ root }: Bench, name: string): string {
  try {
    return execFileSync(join(root, 'test/bench/peers/build'), ['--built', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    throw new Skip(`not built: test/bench/peers/build ${name}`);
  }
}
