import { spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { shareStore, startRotation, startRoundRobin } from './replicas.mjs';

const root = join(import.meta.dirname, '../../..');
const scopes = ['openid', 'profile', 'email', 'offline_access'].map((name) => ({
  name,
  ...(name === 'openid' && { required: true }),
}));

const pairs = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
};

/**
 * Returns a key pair for a JWS algorithm: a JWK Set with the private key for the suite, and one
 * with the public key for the Client.
 */
function signingKey(kid, alg) {
  const { privateKey, publicKey } = pairs[alg]();
  const about = { kid, alg, use: 'sig' };
  return {
    private: { keys: [{ ...privateKey.export({ format: 'jwk' }), ...about }] },
    public: { keys: [{ ...publicKey.export({ format: 'jwk' }), ...about }] },
  };
}

const manifest = (name, spec) => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'Client',
  metadata: { name },
  spec,
});

/** Returns a Client of FAPI 2.0 whose assertions are signed with this algorithm. */
function fapiClient(name, alg, urls) {
  const keys = signingKey(name, alg);
  const spec = {
    displayName: `Conformance ${name}`,
    type: 'Confidential',
    profile: 'FAPI2',
    tokenEndpointAuthSigningAlg: alg,
    jwks: keys.public,
    scopes,
    ...urls,
  };
  return {
    manifest: manifest(name, spec),
    config: { client_id: name, scope: 'openid profile email offline_access', jwks: keys.private },
  };
}

/**
 * Returns the Clients of the plans: the manifests for the service, and the configuration for the
 * suite. The first Client of FAPI signs with `fapiAlg`.
 */
export function clientsFor({ base, backchannel }, alias, fapiAlg = 'PS256') {
  if (!(fapiAlg in pairs)) {
    throw new Error(`--fapi-alg must be one of ${Object.keys(pairs).join(', ')}`);
  }
  const own = `${base}/test/a/${alias}`;
  const urls = {
    redirectURIs: [`${own}/callback`, `${own}/callback?dummy1=lorem&dummy2=ipsum`],
    postLogoutRedirectURIs: [`${own}/post_logout_redirect`],
  };
  // Only the modules of its own plan expect a back-channel logout.
  const backchannelLogoutURI = `${backchannel}/test/a/${alias}/backchannel_logout`;
  const confidential = (name, more) => {
    const secret = randomBytes(32).toString('base64url');
    const hash = createHash('sha256').update(secret).digest('hex');
    const spec = {
      displayName: `Conformance ${name}`,
      type: 'Confidential',
      pkce: 'Optional',
      secretHashes: [`sha256:${hash}`],
      scopes,
      ...urls,
      ...more,
    };
    return { manifest: manifest(name, spec), config: { client_id: name, client_secret: secret } };
  };
  const fapi = (name, alg) => fapiClient(name, alg, urls);
  const basic = {
    client: confidential('suite-basic'),
    client2: confidential('suite-second'),
    client_secret_post: confidential('suite-post', {
      tokenEndpointAuthMethod: 'client_secret_post',
    }),
  };
  const informed = { client: confidential('suite-backchannel', { backchannelLogoutURI }) };
  const fapi2 = {
    client: fapi('suite-fapi', fapiAlg),
    client2: fapi('suite-fapi-second', fapiAlg === 'PS256' ? 'ES256' : 'PS256'),
  };
  const configs = (all) =>
    Object.fromEntries(Object.entries(all).map(([name, { config }]) => [name, config]));
  return {
    manifests: [basic, informed, fapi2]
      .flatMap((set) => Object.values(set))
      .map((one) => one.manifest),
    configs: { basic: configs(basic), backchannel: configs(informed), fapi2: configs(fapi2) },
  };
}

/**
 * Writes the files that the service starts from. Returns the paths of the manifests and of the CA.
 */
function writeFiles(folder, manifests, trusted) {
  const manifestFolder = join(folder, 'manifests');
  mkdirSync(manifestFolder, { recursive: true });
  for (const one of manifests) {
    writeFileSync(join(manifestFolder, `${one.metadata.name}.yaml`), JSON.stringify(one));
  }
  const authority = join(folder, 'suite.pem');
  writeFileSync(authority, trusted);
  return { manifestFolder, authority };
}

const serviceArgs = ({ store, port, securePort, issuer, manifestFolder }) => [
  'bin/vestibule',
  'serve',
  '--mock-mail',
  ...store,
  '--port',
  String(port),
  '--secure-port',
  String(securePort),
  '--base-url',
  issuer,
  '--manifests',
  manifestFolder,
  '--limit-factor',
  '1000',
  '--limits-recent-sign-in',
  '1h',
  '--log-level',
  'info',
];

/** Resolves when the service reports that it is ready. Writes its output to its log. */
function ready(child, folder, port) {
  const path = join(folder, `service-${port}.log`);
  const log = createWriteStream(path);
  child.stderr.pipe(log, { end: false });
  return new Promise((done, failed) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.write(`${line}\n`);
      if (line.startsWith('ready ')) done();
    });
    child.on('exit', (code) => failed(new Error(`the service ended with ${code}; see ${path}`)));
  });
}

/**
 * Returns a function that finds the newest emailed code for an address that it has not returned
 * before.
 */
function codeReader(port) {
  const used = new Set();
  const newest = async (address) => {
    const response = await fetch(`http://localhost:${port}/api/v1beta1/mockmessages`);
    const { items = [] } = await response.json();
    return items
      .filter(
        ({ metadata, status }) => status.to === address && status.code && !used.has(metadata.name),
      )
      .sort((a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion))[0];
  };
  return async (address) => {
    for (let tries = 0; tries < 300; tries += 1) {
      const message = await newest(address);
      if (message) {
        used.add(message.metadata.name);
        return message.status.code;
      }
      await setTimeout(100);
    }
    throw new Error(`no code was sent to ${address}`);
  };
}

/** The environment without settings of the service, which have flags here. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('VESTIBULE_')),
);

/**
 * Starts the service with mock mail; its https is the issuer. One process has an embedded store; two
 * `replicas` are on etcd behind a round robin. `rotateMs` is how often their keys change.
 */
export async function startService({
  folder,
  port,
  securePort,
  manifests,
  trusted,
  replicas = 1,
  rotateMs,
}) {
  const { manifestFolder, authority } = writeFiles(folder, manifests, trusted);
  const issuer = `https://localhost:${securePort}`;
  const ends = [];
  const start = async (store, ownPort, ownSecurePort) => {
    const args = { store, port: ownPort, securePort: ownSecurePort, issuer, manifestFolder };
    const child = spawn(process.execPath, serviceArgs(args), {
      cwd: root,
      env: { ...inherited, NODE_EXTRA_CA_CERTS: authority },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ends.unshift(() => child.kill());
    await ready(child, folder, ownPort);
  };
  const stop = async () => {
    for (const end of ends) await end();
  };
  const startAll = async () => {
    if (replicas === 1) return start(['--data-dir', join(folder, 'data')], port, securePort);
    const shared = await shareStore(folder, port + 5_000);
    ends.unshift(shared.stop);
    const store = [...shared.flags, '--allow-mock-mail'];
    const securePorts = Array.from({ length: replicas }, (_, i) => securePort + 1_000 * (i + 1));
    for (const [i, own] of securePorts.entries()) await start(store, port + i, own);
    ends.unshift(await startRoundRobin(securePort, securePorts));
    if (rotateMs) ends.unshift(startRotation(shared.keys, rotateMs));
  };
  await startAll().catch(async (error) => {
    await stop();
    throw error;
  });
  return { issuer, stop, codeTo: codeReader(port) };
}
