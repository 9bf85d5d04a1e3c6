import { test } from '@jest/globals';
import { toolProgram } from '../support/cluster/tool-program.js';
import { etcdConformance } from './cases/etcd-conformance.js';
import { etcdVersion } from './etcd-server.js';

/** The etcds that the other suites do not run on. */
const binaries = { 'etcd 3.5': toolProgram('etcd', '3.5'), 'the etcd of the PATH': 'etcd' };

for (const [name, binary] of Object.entries(binaries)) {
  if (binary && etcdVersion(binary)) {
    etcdConformance(binary);
  } else {
    test.skip(`${name} is not here`, () => undefined);
  }
}
