/**
 * Jest's global setup: measures once how fast the machine is now, and sets VESTIBULE_TEST_PATIENCE,
 * the factor of every timeout of the tests.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A start of Node and work on strings and digests: half a second on two idle cores of 2025. */
const work = `
const { createHash } = require('node:crypto');
let text = '';
for (let i = 0; i < 300_000; i += 1)
  text = createHash('sha256').update(JSON.stringify({ i, text })).digest('hex');`;
const referenceMs = 450;
const [least, most] = [2, 12];

export default async function measureMachine() {
  if (process.env.VESTIBULE_TEST_PATIENCE) return;
  const startedAt = performance.now();
  await Promise.all([1, 2].map(() => run(process.execPath, ['-e', work])));
  const ratio = (performance.now() - startedAt) / referenceMs;
  process.env.VESTIBULE_TEST_PATIENCE = Math.min(most, Math.max(least, 2 * ratio)).toFixed(1);
}
