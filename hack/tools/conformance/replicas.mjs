import { execFile, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findEtcd } from '../etcd/find.mjs';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const vestibule = (...args) => run(process.execPath, ['bin/vestibule', ...args], { cwd: root });

/** Starts an etcd member of its own; resolves when it answers. */
async function startEtcd(folder, port) {
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${port + 1}`;
  const child = spawn(
    findEtcd(),
    [
      '--name',
      'm0',
      '--data-dir',
      join(folder, 'etcd'),
      '--log-level',
      'error',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `m0=${peer}`,
    ],
    { stdio: 'ignore' },
  );
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await fetch(`${client}/health`).catch(() => undefined);
    if (response?.ok) return { client, stop: () => child.kill() };
    await setTimeout(100);
  }
  child.kill();
  throw new Error('etcd did not start: build it with hack/tools/etcd/build, or install it');
}

/**
 * Starts etcd, and makes the keys and the certificate that replicas share. Returns their flags, the keys
 * file, and what ends etcd.
 */
export async function shareStore(folder, port) {
  mkdirSync(folder, { recursive: true });
  const [keys, key, cert] = ['keys.json', 'tls.key', 'tls.crt'].map((name) => join(folder, name));
  await vestibule('keys', 'new', keys);
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
  ]);
  const { client, stop } = await startEtcd(folder, port);
  const flags = [
    '--etcd-servers',
    client,
    '--keys-file',
    keys,
    '--tls-cert-file',
    cert,
    '--tls-private-key-file',
    key,
  ];
  return { flags, keys, stop };
}

/** Leads the connections of a port to these ports in turn. Returns what ends it. */
export async function startRoundRobin(port, ports) {
  let turn = 0;
  const open = new Set();
  const server = createServer((near) => {
    const far = connect(ports[turn++ % ports.length], '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  await new Promise((done) => server.listen(port, done));
  return () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
}

/**
 * Rotates the keys each `everyMs`: adds new ones, and signs with them once all replicas know them. Returns
 * what ends it.
 */
export function startRotation(keys, everyMs) {
  let rotating = Promise.resolve();
  const timer = setInterval(() => {
    rotating = rotating
      .then(() => vestibule('keys', 'add', keys))
      .then(() => setTimeout(Math.min(everyMs / 2, 5_000)))
      .then(() => vestibule('keys', 'use', keys));
  }, everyMs);
  return () => {
    clearInterval(timer);
    return rotating;
  };
}
