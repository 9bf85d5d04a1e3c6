/**
 * Jest's global setup: measures once how fast the machine is now, and sets VESTIBULE_TEST_PATIENCE,
 * the factor of every timeout of the tests. Makes the signing keys of the run, and finds its etcd.
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { findEtcd } from '../../hack/tools/etcd/find.mjs';

const run = promisify(execFile);
/** A start of Node and work on strings and digests: half a second on two idle cores of 2025. */
const work = `
const { createHash } = require('node:crypto');
let text = '';
for (let i = 0; i < 300_000; i += 1)
  text = createHash('sha256').update(JSON.stringify({ i, text })).digest('hex');`;
const referenceMs = 450;
const [least, most] = [2, 12];

export default async function setUp() {
  process.env.VESTIBULE_TEST_SIGNING_KEYS ??= JSON.stringify(signingKeys());
  process.env.VESTIBULE_TEST_ETCD ??= findEtcd();
  process.env.VESTIBULE_TEST_PATIENCE ??= await measurePatience();
}

function signingKeys() {
  const pairs = {
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    RS256: generateKeyPairSync('rsa', { modulusLength: 3072 }),
  };
  return Object.entries(pairs).map(([alg, { privateKey }]) => ({
    ...privateKey.export({ format: 'jwk' }),
    alg,
    use: 'sig',
    kid: randomUUID(),
  }));
}

async function measurePatience() {
  const startedAt = performance.now();
  await Promise.all([1, 2].map(() => run(process.execPath, ['-e', work])));
  const ratio = (performance.now() - startedAt) / referenceMs;
  return Math.min(most, Math.max(least, 2 * ratio)).toFixed(1);
}
