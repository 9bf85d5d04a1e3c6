import { lookup as resolve } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { FetchResponse } from '../../kinds/ports.js';
import { EgressPolicy } from '../../security/egress-policy.js';
import { isLoopback } from '../../security/loopback.js';

/** Options of a call; `ca` (PEM) replaces the public authorities. */
interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly ca?: string;
}

/** Sends an outgoing request. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The call was refused because of its destination. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
}

/** The call failed: no response in time, too large, or encoded. */
class FetchError extends Error {
  override readonly name = 'Failed';
}

const deadlineMs = 2_500;
const maxBytes = 64 << 10;

interface Address {
  readonly address: string;
  readonly family: number;
}

interface Target {
  readonly url: URL;
  readonly addresses: readonly [Address, ...Address[]];
}

/**
 * Creates the fetch of all outgoing requests: addresses are checked before connecting, redirects
 * are not followed, at most 2.5 s and 64 KiB (docs/design/security.md#outgoing-requests).
 */
export function createFetch(options: {
  baseURL: string;
  allowPrivateNetwork?: readonly string[];
}): Fetch {
  const local = isLoopback(new URL(options.baseURL).hostname);
  const egress = new EgressPolicy(options.allowPrivateNetwork ?? [], local);
  return async (url, init) => {
    const signal = AbortSignal.any([
      AbortSignal.timeout(deadlineMs),
      ...(init.signal ? [init.signal] : []),
    ]);
    const target = await resolveTarget(url, egress, signal);
    return send(target, init, signal);
  };
}

async function resolveTarget(
  text: string,
  egress: EgressPolicy,
  signal: AbortSignal,
): Promise<Target> {
  if (!URL.canParse(text)) throw new EgressRefusedError('not a URL');
  const url = new URL(text);
  if (!['https:', 'http:'].includes(url.protocol) || url.username || url.password || url.hash) {
    throw new EgressRefusedError('the URL must be https without user information and fragment');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const [first, ...others] = family
    ? [{ address: host, family }]
    : await untilAborted(signal, resolve(host, { all: true }));
  const isPermitted = ({ address }: Address): boolean =>
    egress.permits(address, url.protocol === 'https:');
  if (!first || ![first, ...others].every(isPermitted)) {
    throw new EgressRefusedError('the egress policy does not permit the address');
  }
  return { url, addresses: [first, ...others] };
}

/** Resolves a name's addresses within the time limit. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, fail) => {
    signal.addEventListener('abort', () => fail(new FetchError('no response in time')), {
      once: true,
    });
    work.then(done, () => fail(new FetchError('the name does not resolve')));
  });
}

function send(
  { url, addresses }: Target,
  init: FetchInit,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const [first] = addresses;
  const pinnedLookup: LookupFunction = (_host, options, callback) =>
    options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
  const body = init.body === undefined ? undefined : Buffer.from(init.body);
  const options: RequestOptions & { ca?: string } = {
    method: init.method,
    lookup: pinnedLookup,
    signal,
    agent: false,
    ...(init.ca !== undefined && { ca: init.ca }),
    headers: {
      ...init.headers,
      'accept-encoding': 'identity',
      ...(body && { 'content-length': body.length }),
    },
  };
  return new Promise((done, fail) => {
    let hasResponse = false;
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      options,
      (response) => {
        hasResponse = true;
        read(response).then(done, fail);
      },
    );
    request.on('error', () =>
      fail(new FetchError(signal.aborted ? 'no response in time' : 'no connection')),
    );
    request.on('close', () => {
      if (!hasResponse) fail(new FetchError('no response'));
    });
    request.end(body);
  });
}

async function read(response: IncomingMessage): Promise<FetchResponse> {
  const encoding = response.headers['content-encoding'];
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (encoding && encoding !== 'identity') {
      throw new FetchError('the response has a content encoding');
    }
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if ((size += chunk.length) > maxBytes) throw new FetchError('the response is too long');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof FetchError ? error : new FetchError('the response was cut off');
  } finally {
    response.destroy();
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  );
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) };
}

/** Returns `fetch` in the signature that oidc-provider expects. */
export function libraryFetch(
  fetch: Fetch,
): (
  url: string,
  init: { method?: string; headers?: Headers; body?: unknown; signal?: AbortSignal },
) => Promise<Response> {
  return async (url, init) => {
    const { cookie: _, ...headers } = Object.fromEntries(init.headers ?? []);
    const response = await fetch(String(url), {
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(init.body !== undefined && { body: String(init.body) }),
      ...(init.signal && { signal: init.signal }),
    });
    const empty = [204, 205, 304].includes(response.status);
    return new Response(empty ? null : new Uint8Array(response.body), {
      status: response.status,
      headers: response.headers,
    });
  };
}
