import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8's own collector, as far as it is asked for here. */
type Collect = (how: { type: 'major'; flavor: 'last-resort'; execution: 'async' }) => Promise<void>;

/**
 * Has V8 give back what the start alone needed, about a quarter of what is resident: a service at
 * rest allocates too little for V8 to do so by itself. Once, behind the start; it takes about a
 * tenth of a second.
 */
export async function giveBack(): Promise<void> {
  setFlagsFromString('--expose-gc');
  await (runInNewContext('gc') as Collect)({
    type: 'major',
    flavor: 'last-resort',
    execution: 'async',
  });
}
