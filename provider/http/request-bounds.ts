import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { showableText } from './wrong-parameters.js';
import type { LimitName, Limits } from '../../registry/limit-settings.js';

/** A request whose size, or one of whose parameters, exceeds its bound; the message names which. */
export class RequestBoundsError extends Error {
  override readonly name = 'RequestBoundsError';
  /** The too long parameter as it may be shown; empty if the whole request is too long. */
  readonly parameters: Readonly<Record<string, string>>;

  constructor(message: string, parameters: Readonly<Record<string, string>> = {}) {
    super(message);
    this.parameters = parameters;
  }
}

/** The parameters that may be shown and logged if they are wrong. */
const showable: ReadonlySet<string> = new Set(['client_id', 'redirect_uri', 'scope']);

/**
 * The bounds in bytes of parameters whose length a standard or the API limits. They are not
 * settings, because longer values are never valid.
 */
const fixedBounds: Readonly<Record<string, number>> = {
  client_id: 253,
  code_challenge: 128,
  code_challenge_method: 128,
  prompt: 128,
  max_age: 128,
  display: 128,
  response_type: 128,
  response_mode: 128,
  dpop_jkt: 128,
};

/**
 * The settings with the bound in bytes of a parameter; all others use `authorizationParameterSize`.
 */
const boundSettings: Readonly<Record<string, LimitName>> = {
  state: 'stateSize',
  nonce: 'nonceSize',
  redirect_uri: 'redirectUriSize',
  id_token_hint: 'signedParameterSize',
  client_assertion: 'signedParameterSize',
  request: 'signedParameterSize',
};

/**
 * Throws {@link RequestBoundsError} for a request that is too large, before oidc-provider sees it: as a
 * whole, or in one parameter. Reads a body within its bound and puts it back. Returns the bytes
 * that the parameters of query and body take in the store.
 */
export async function assertRequestBounds(
  request: IncomingMessage,
  limits: Limits,
): Promise<number> {
  const query = request.url!.split('?').slice(1).join('?');
  const queryBytes = assertWithinBounds(query, limits);
  if (request.method !== 'POST') return queryBytes;
  const body = await readBounded(request, limits.authorizationRequestSize);
  restoreBody(request, body);
  return queryBytes + assertWithinBounds(body.toString(), limits);
}

/** Sealed records are base64, which takes four bytes for three. */
const sealedFactor = 4 / 3;

/** Returns the bytes of a parameter in a sealed record, where a character may take six. */
const storedSize = (name: string, value: string): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify([name, value])) * sealedFactor);

/**
 * Throws {@link RequestBoundsError} if a form or a query, or one of its parameters, is too long.
 * Returns the bytes that the parameters take in the store.
 */
function assertWithinBounds(form: string, limits: Limits): number {
  let stored = 0;
  if (Buffer.byteLength(form) > limits.authorizationRequestSize)
    throw tooLong(limits.authorizationRequestSize);
  for (const [name, value] of new URLSearchParams(form)) {
    const max = boundOf(name, limits);
    if (Buffer.byteLength(value) > max)
      throw new RequestBoundsError(
        `${/^\w{1,40}$/.test(name) ? name : 'a parameter'} is over ${max} bytes`,
        showable.has(name) ? { [name]: showableText(value) } : {},
      );
    stored += storedSize(name, value);
  }
  return stored;
}

function boundOf(name: string, limits: Limits): number {
  if (Object.hasOwn(fixedBounds, name)) return fixedBounds[name]!;
  return limits[
    Object.hasOwn(boundSettings, name) ? boundSettings[name]! : 'authorizationParameterSize'
  ];
}

const tooLong = (max: number): RequestBoundsError =>
  new RequestBoundsError(`the request is over ${max} bytes`);

async function readBounded(request: IncomingMessage, max: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > max) throw tooLong(max);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > max) throw tooLong(max);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Lets oidc-provider read a body that has already been read, through `readable` and `iterator`. */
function restoreBody(request: IncomingMessage, body: Buffer): void {
  Object.defineProperties(request, {
    readable: { value: true, configurable: true },
    iterator: {
      value: () => Readable.from(body.length > 0 ? [body] : []).iterator(),
      configurable: true,
    },
  });
}
