import { lookup as resolve } from 'node:dns/promises';
import { request as plain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../../security/loopback.js';
import { EgressPolicy } from '../../security/egress-policy.js';
import type { FetchAnswer } from '../../kinds/ports.js';

/** Options of a call; `ca` (PEM) replaces the public authorities. */
interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly ca?: string;
}

/** The one way out of this server. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** The call was refused because of its destination. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
}

/** The call failed: no response in time, too large, or encoded. */
class Failed extends Error {
  override readonly name = 'Failed';
}

const deadline = 2_500;
const cap = 64 << 10;

interface Target {
  readonly url: URL;
  readonly addresses: readonly { address: string; family: number }[];
}

/**
 * Creates the fetch of all outgoing requests: addresses are checked before connecting, redirects
 * are not followed, 2.5 s and 64 KiB at most (docs/design/security.md#outgoing-requests).
 */
export function createFetch(options: {
  baseURL: string;
  allowPrivateNetwork?: readonly string[];
}): Fetch {
  const local = isLoopback(new URL(options.baseURL).hostname);
  const judge = new EgressPolicy(options.allowPrivateNetwork ?? [], local);
  return async (url, init) => {
    const signal = AbortSignal.any([
      AbortSignal.timeout(deadline),
      ...(init.signal ? [init.signal] : []),
    ]);
    const target = await targetOf(url, judge, signal);
    return send(target, init, signal);
  };
}

async function targetOf(text: string, judge: EgressPolicy, signal: AbortSignal): Promise<Target> {
  if (!URL.canParse(text)) throw new EgressRefusedError('not an address');
  const url = new URL(text);
  if (!['https:', 'http:'].includes(url.protocol) || url.username || url.password || url.hash)
    throw new EgressRefusedError('only https without user information and fragment');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family
    ? [{ address: host, family }]
    : await within(signal, resolve(host, { all: true }));
  if (
    addresses.length === 0 ||
    !addresses.every(({ address }) => judge.permits(address, url.protocol === 'https:'))
  )
    throw new EgressRefusedError('the address is not open to this service');
  return { url, addresses };
}

/** Resolves a name's addresses within the time limit. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, fail) => {
    signal.addEventListener('abort', () => fail(new Failed('no answer in time')), { once: true });
    work.then(done, () => fail(new Failed('the name does not resolve')));
  });
}

function send(
  { url, addresses }: Target,
  init: FetchInit,
  signal: AbortSignal,
): Promise<FetchAnswer> {
  const judged: LookupFunction = (_host, wanted, answer) =>
    wanted.all
      ? answer(null, [...addresses])
      : answer(null, addresses[0]!.address, addresses[0]!.family);
  const body = init.body === undefined ? undefined : Buffer.from(init.body);
  const options: RequestOptions & { ca?: string } = {
    method: init.method,
    lookup: judged,
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
    let answered = false;
    const request = (url.protocol === 'https:' ? secure : plain)(url, options, (response) => {
      answered = true;
      read(response).then(done, fail);
    });
    request.on('error', () =>
      fail(new Failed(signal.aborted ? 'no answer in time' : 'no connection')),
    );
    request.on('close', () => {
      if (!answered) fail(new Failed('no answer'));
    });
    request.end(body);
  });
}

async function read(response: IncomingMessage): Promise<FetchAnswer> {
  const encoding = response.headers['content-encoding'];
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (encoding && encoding !== 'identity') throw new Failed('an encoded answer');
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if ((size += chunk.length) > cap) throw new Failed('too long an answer');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Failed ? error : new Failed('the answer broke off');
  } finally {
    response.destroy();
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  );
  return { status: response.statusCode!, headers, body: Buffer.concat(chunks) };
}

/** The same way out in the shape the library expects of `fetch`. */
export function libraryFetch(
  fetch: Fetch,
): (
  url: string,
  init: { method?: string; headers?: Headers; body?: unknown; signal?: AbortSignal },
) => Promise<Response> {
  return async (url, init) => {
    const { cookie: _, ...headers } = Object.fromEntries(init.headers ?? []);
    const answer = await fetch(String(url), {
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(init.body !== undefined && { body: String(init.body) }),
      ...(init.signal && { signal: init.signal }),
    });
    const empty = [204, 205, 304].includes(answer.status);
    return new Response(empty ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}
