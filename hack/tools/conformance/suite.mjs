import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';

/** The suite's host, which only Chromium resolves, to this machine. */
export const suiteHost = 'suite.example.test';

const password = 'conformance';
const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

/** Waits until a port of loopback accepts connections. Throws if the process ends first. */
async function opened(port, child) {
  for (;;) {
    if (child.exitCode !== null) {
      throw new Error(`${child.spawnargs[0]} ended with ${child.exitCode}; see its log`);
    }
    const taken = await new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      });
      socket.on('error', () => done(false));
    });
    if (taken) return;
    await pause(500);
  }
}

/**
 * Starts a proxy that forwards requests to the suite, with the headers it expects about the
 * connection's TLS version and cipher.
 */
async function startProxy(to, keyStore) {
  const proxy = createServer(
    { pfx: readFileSync(keyStore), passphrase: password },
    (asked, answered) => {
      const tls = {
        'x-ssl-protocol': asked.socket.getProtocol(),
        'x-ssl-cipher': asked.socket.getCipher().name,
      };
      const { method, headers, url } = asked;
      const sent = request(`${to}${url}`, { method, headers: { ...headers, ...tls } }, (answer) => {
        answered.writeHead(answer.statusCode, answer.headers);
        answer.pipe(answered);
      });
      sent.on('error', () => answered.destroy());
      asked.pipe(sent);
    },
  );
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

/** Creates the key of the suite's https and a self-signed certificate. Returns both. */
function makeKeyStore(java, folder) {
  const keytool = join(java, 'bin/keytool');
  const keyStore = join(folder, 'suite.p12');
  execFileSync(
    keytool,
    [
      '-genkeypair',
      '-alias',
      'suite',
      '-keyalg',
      'EC',
      '-groupname',
      'secp256r1',
      '-validity',
      '30',
      '-dname',
      'CN=localhost',
      '-ext',
      `san=dns:localhost,dns:${suiteHost}`,
      '-storetype',
      'PKCS12',
      '-keystore',
      keyStore,
      '-storepass',
      password,
    ],
    { stdio: 'ignore' },
  );
  const certificate = execFileSync(keytool, [
    '-exportcert',
    '-rfc',
    '-alias',
    'suite',
    '-keystore',
    keyStore,
    '-storepass',
    password,
  ]);
  return { keyStore, certificate: String(certificate) };
}

/**
 * The conformance suite in a process of its own, with its database in memory. `built` is the folder
 * that hack/tools/conformance/build made; `folder` receives its logs. `stop()` ends it.
 */
export class Suite {
  #children = [];
  #proxy;

  constructor(port) {
    /**
     * The host that the service and Chromium use. It is not loopback, because apps on loopback are
     * asked for consent every time.
     */
    this.base = `https://${suiteHost}:${port}`;
    /** The address that programs on this machine use. */
    this.local = `https://localhost:${port}`;
  }

  static async start({ java, built, folder, port, databasePort }) {
    const suite = new Suite(port);
    const { keyStore, certificate } = makeKeyStore(java, folder);
    suite.certificate = certificate;
    const database = suite.#run(folder, 'database', java, [
      '-cp',
      join(built, 'lib/*'),
      join(import.meta.dirname, 'Mongo.java'),
      String(databasePort),
    ]);
    await opened(databasePort, database);
    const server = suite.#run(folder, 'suite', java, [
      '-Xmx1500m',
      '-Djdk.tls.maxHandshakeMessageSize=65536',
      '-jar',
      join(built, 'suite.jar'),
      '--fintechlabs.devmode=true',
      '--fintechlabs.startredir=false',
      `--fintechlabs.base_url=${suite.base}`,
      `--fintechlabs.base_mtls_url=${suite.base}`,
      `--spring.mongodb.uri=mongodb://127.0.0.1:${databasePort}/test_suite`,
      '--openid.mongodb.targetFeatureCompatibilityVersion=',
      `--server.port=${port}`,
      '--server.address=127.0.0.1',
      `--server.ssl.key-store=${keyStore}`,
      `--server.ssl.key-store-password=${password}`,
      '--server.ssl.key-store-type=PKCS12',
    ]);
    await opened(port, server);
    suite.#proxy = await startProxy(suite.local, keyStore);
    /** The base URL at which the service reaches the suite. */
    suite.backchannel = `https://localhost:${suite.#proxy.address().port}`;
    return suite;
  }

  #run(folder, name, java, args) {
    const child = spawn(join(java, 'bin/java'), args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = createWriteStream(join(folder, `${name}.log`));
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    this.#children.push(child);
    return child;
  }

  /** Calls the suite's API. Throws unless the response is 2xx. */
  async call(method, path, body, type = 'application/json') {
    const response = await fetch(`${this.local}/api/${path}`, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': type } }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    }
    return text ? JSON.parse(text) : undefined;
  }

  /** Creates a plan and returns it, with its `id` and `modules`. */
  createPlan(name, variant, config) {
    return this.call(
      'POST',
      `plan?${new URLSearchParams({ planName: name, variant: JSON.stringify(variant) })}`,
      JSON.stringify(config),
    );
  }

  /** Starts a module of a plan and returns its id. */
  async startModule(plan, { testModule, variant = {} }) {
    return (
      await this.call(
        'POST',
        `runner?${new URLSearchParams({ test: testModule, plan, variant: JSON.stringify(variant) })}`,
      )
    ).id;
  }

  stop() {
    this.#proxy?.close();
    this.#proxy?.closeAllConnections();
    for (const child of this.#children) child.kill();
  }
}
