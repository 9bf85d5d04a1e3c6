/** Jest's sequence, with suites of a minute or more first, so that none runs alone at the end. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { default: Sequencer } = require('@jest/test-sequencer');
const long =
  /browser\/(gallery|journey)|faults\/|slowreader|kubernetes\/parity|policy\/differential|provider\/races|storage\/etcd/;

export default class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isLong = ({ path }) => long.test(path);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
