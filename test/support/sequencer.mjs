/**
 * Jest's sequence, with the suites that take a minute or start many processes spread evenly among
 * the others: side by side they would slow each other down, and at the end one would run alone.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { default: Sequencer } = require('@jest/test-sequencer');
const heavy =
  /browser\/|clients\/|faults\/|kubernetes\/|policy\/differential|provider\/races|storage\/(etcd|snapshot|credentials)|cmd\/snapshot/;

export default class Spread extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isHeavy = ({ path }) => heavy.test(path);
    const others = sorted.filter((test) => !isHeavy(test));
    const heavies = sorted.filter(isHeavy);
    const between = Math.floor(others.length / Math.max(1, heavies.length));
    return [
      ...heavies.flatMap((test, i) => [test, ...others.slice(i * between, (i + 1) * between)]),
      ...others.slice(heavies.length * between),
    ];
  }
}
