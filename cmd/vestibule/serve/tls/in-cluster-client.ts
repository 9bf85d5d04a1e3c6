import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { release } from '../../../../observability/build-info.js';
import { ConfigError } from '../../options/config.js';

/**
 * The directory where Kubernetes mounts a pod's service account: its token, renewed about hourly,
 * and the CA of the API server.
 */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Largest response, and largest line of one, in bytes. A ConfigMap has at most 1 MiB. */
const maxBytes = 4 << 20;
/** Milliseconds until a response must begin, and until a response that is read whole must end. */
const responseTimeoutMs = 10_000;

/** A response of the API server other than 200. */
export class ApiServerError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A client for the API server of the cluster, authenticated by the pod's service account. */
export class InClusterClient {
  readonly #server: string;
  readonly #folder: string;

  /** Throws a ConfigError if the service account is not mounted. */
  constructor(server: string, folder = serviceAccountFolder) {
    this.#server = server;
    this.#folder = folder;
    const missing = ['token', 'ca.crt']
      .map((name) => join(folder, name))
      .filter((file) => !existsSync(file));
    if (missing.length > 0)
      throw new ConfigError(
        missing.map(
          (file) =>
            `--authentication-skip-lookup=false: ${file} does not exist; the pod needs its service account ` +
            '(automountServiceAccountToken: true)',
        ),
      );
  }

  /** Sends a GET and returns the parsed response. */
  async get(path: string, signal: AbortSignal): Promise<any> {
    const response = await this.#open(
      path,
      AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
    );
    return JSON.parse(await readText(response));
  }

  /**
   * Yields the lines of a streamed response until it ends or the timeout passes. Throws if it is
   * cut off.
   */
  async *streamLines(
    path: string,
    timeoutMs: number,
    signal: AbortSignal,
    onOpen: () => void,
  ): AsyncGenerator<any> {
    const response = await this.#open(
      path,
      AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    );
    onOpen();
    let remainder = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      const lines = (remainder + (chunk as string)).split('\n');
      remainder = lines.pop()!;
      if (remainder.length > maxBytes)
        throw new Error('the response of the API server has a line over the limit');
      for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
    }
  }

  /** Reads token and CA for each request, because both change while a pod runs. */
  #open(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const [token, ca] = ['token', 'ca.crt'].map((name) =>
        readFileSync(join(this.#folder, name), 'utf8').trim(),
      );
      const { hostname } = new URL(this.#server);
      const host = hostname.replaceAll(/[[\]]/g, '');
      const req = request(
        `${this.#server}${path}`,
        {
          ca: ca!,
          agent: false,
          signal,
          timeout: responseTimeoutMs,
          ...(isIP(host) === 0 && { servername: host }),
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'application/json',
            'user-agent': `vestibule/${release}`,
          },
        },
        (response) => {
          response.socket.setTimeout(0).setKeepAlive(true, 15_000);
          if (response.statusCode === 200) return resolve(response);
          readText(response)
            .then((text) => {
              throw apiServerError(response.statusCode!, text);
            })
            .catch(reject);
        },
      );
      req
        .on('error', reject)
        .on('timeout', () => req.destroy(new Error('the API server does not respond')))
        .end();
    });
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error('the response of the API server is over the limit');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function apiServerError(status: number, text: string): ApiServerError {
  let message: unknown;
  try {
    message = (JSON.parse(text) as { message?: unknown }).message;
  } catch {
    /* The body is not a Status. */
  }
  return new ApiServerError(
    status,
    `the API server responded with ${status}${typeof message === 'string' ? `: ${message}` : ''}`,
  );
}
