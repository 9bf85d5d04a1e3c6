import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ConfigError } from '../options/config.js';
import { release } from '../../../observability/build-info.js';

/**
 * Where Kubernetes puts what a pod proves itself by: its service account's token, renewed every
 * hour or so, and the authority of the API server.
 */
export const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Bytes of an answer, and of a line in one, at most: a ConfigMap has a million. */
const max = 4 << 20;
/** Milliseconds until an answer begins, and until one that is read whole has ended. */
const patience = 10_000;

/** An answer of the API server that is no 200. */
export class ClusterRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Asks the API server of the cluster that this process is in a pod of, as the pod's service
 * account.
 */
export class InClusterClient {
  readonly #server: string;
  readonly #folder: string;

  /** Throws a ConfigError where the pod was given nothing to prove itself by. */
  constructor(server: string, folder = serviceAccount) {
    this.#server = server;
    this.#folder = folder;
    const missing = ['token', 'ca.crt']
      .map((name) => join(folder, name))
      .filter((file) => !existsSync(file));
    if (missing.length > 0)
      throw new ConfigError(
        missing.map(
          (file) =>
            `--authentication-skip-lookup=false: there is no ${file}: the pod needs its service ` +
            'account (automountServiceAccountToken: true)',
        ),
      );
  }

  /** The whole answer to a GET. */
  async get(path: string, signal: AbortSignal): Promise<any> {
    const answer = await this.#open(path, AbortSignal.any([signal, AbortSignal.timeout(patience)]));
    return JSON.parse(await textOf(answer));
  }

  /**
   * The lines of an answer that goes on and on, until it ends or, after so many milliseconds, is
   * left; one that is cut off throws.
   */
  async *lines(
    path: string,
    milliseconds: number,
    signal: AbortSignal,
    begun: () => void,
  ): AsyncGenerator<any> {
    const answer = await this.#open(
      path,
      AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]),
    );
    begun();
    let rest = '';
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      const all = (rest + (chunk as string)).split('\n');
      rest = all.pop()!;
      if (rest.length > max) throw new Error('the API server’s answer has too long a line');
      for (const line of all) if (line.trim() !== '') yield JSON.parse(line);
    }
  }

  /** Token and authority are read each time: both change while a pod runs. */
  #open(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const [token, ca] = ['token', 'ca.crt'].map((name) =>
        readFileSync(join(this.#folder, name), 'utf8').trim(),
      );
      const { hostname } = new URL(this.#server);
      const host = hostname.replaceAll(/[[\]]/g, '');
      const asked = request(
        `${this.#server}${path}`,
        {
          ca: ca!,
          agent: false,
          signal,
          timeout: patience,
          ...(isIP(host) === 0 && { servername: host }),
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'application/json',
            'user-agent': `vestibule/${release}`,
          },
        },
        (answer) => {
          answer.socket.setTimeout(0).setKeepAlive(true, 15_000);
          if (answer.statusCode === 200) return resolve(answer);
          textOf(answer)
            .then((text) => {
              throw refusal(answer.statusCode!, text);
            })
            .catch(reject);
        },
      );
      asked
        .on('error', reject)
        .on('timeout', () => asked.destroy(new Error('the API server does not answer')))
        .end();
    });
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > max) throw new Error('the API server’s answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function refusal(status: number, text: string): ClusterRefusal {
  let message: unknown;
  try {
    message = (JSON.parse(text) as { message?: unknown }).message;
  } catch {
    /* no Status */
  }
  return new ClusterRefusal(
    status,
    `the API server answers ${status}${typeof message === 'string' ? `: ${message}` : ''}`,
  );
}
