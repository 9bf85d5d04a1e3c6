import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The function that `--expose-gc` adds to a new context. */
type Collect = (options: {
  readonly type: 'major';
  readonly flavor: 'last-resort';
  readonly execution: 'async';
}) => Promise<void>;

/**
 * Collects what only the start needed and returns its memory to the system; takes about a tenth of
 * a second. A service at rest allocates too little for V8 to do so by itself.
 */
export async function releaseStartupHeap(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  await collect({ type: 'major', flavor: 'last-resort', execution: 'async' });
}
