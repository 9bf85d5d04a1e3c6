import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { release } from '../../../../observability/build-info.js';
import { lines, openRequest, readResponse } from '../../client/connection/http.js';
import { ConfigError } from '../../options/config.js';

/**
 * The directory where Kubernetes mounts a pod's service account: its token, renewed about hourly,
 * and the CA of the API server.
 */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

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
    if (missing.length > 0) {
      throw new ConfigError(
        missing.map(
          (file) =>
            `--authentication-skip-lookup=false: ${file} does not exist; the pod needs its service account ` +
            '(automountServiceAccountToken: true)',
        ),
      );
    }
  }

  /** Sends a GET and returns the parsed response. */
  async get(path: string, signal: AbortSignal): Promise<any> {
    const limit = AbortSignal.timeout(responseTimeoutMs);
    return (await readResponse(await this.#open(path, AbortSignal.any([signal, limit])))).body;
  }

  /** Yields the lines of a streamed response until it ends, is cut off or the timeout passes. */
  async *streamLines(
    path: string,
    timeoutMs: number,
    signal: AbortSignal,
    onOpen: () => void,
  ): AsyncGenerator<any> {
    const limit = AbortSignal.timeout(timeoutMs);
    const response = await this.#open(path, AbortSignal.any([signal, limit]));
    onOpen();
    for await (const line of lines(response)) yield JSON.parse(line);
  }

  /** Reads token and CA for each request, because both change while a pod runs. */
  async #open(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const [token, ca = ''] = ['token', 'ca.crt'].map((name) =>
      readFileSync(join(this.#folder, name), 'utf8').trim(),
    );
    const headers = { authorization: `Bearer ${token}`, 'user-agent': `vestibule/${release}` };
    const options = { ca, signal, timeoutMs: responseTimeoutMs };
    const response = await openRequest('GET', `${this.#server}${path}`, headers, options);
    response.socket.setTimeout(0).setKeepAlive(true, 15_000);
    if (response.statusCode === 200) return response;
    const { code, body } = await readResponse(response);
    const message = typeof body?.message === 'string' ? `: ${body.message}` : '';
    throw new ApiServerError(code, `the API server responded with ${code}${message}`);
  }
}
