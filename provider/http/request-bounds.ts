import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { shown } from './wrong-parameters.js';
import type { LimitName, Limits } from '../../registry/limit-settings.js';

/** A request that asks to have more kept of it than is kept of one; says which part is too long. */
export class OverBound extends Error {
  override readonly name = 'OverBound';
  /** The parameter that is too long, as it may be shown; none where the whole request is. */
  readonly parameters: Readonly<Record<string, string>>;

  constructor(message: string, parameters: Readonly<Record<string, string>> = {}) {
    super(message);
    this.parameters = parameters;
  }
}

/** The parameters that are named where they are wrong; no other is shown or logged. */
const named: ReadonlySet<string> = new Set(['client_id', 'redirect_uri', 'scope']);

/**
 * Longest values, in bytes, of parameters whose length a standard or the API bounds. They are not
 * settings, as longer values have no meaning.
 */
const bounds: Readonly<Record<string, number>> = {
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
 * The setting with the longest value, in bytes, of a parameter; all others have
 * `authorizationParameterSize`.
 */
const settable: Readonly<Record<string, LimitName>> = {
  state: 'stateSize',
  nonce: 'nonceSize',
  redirect_uri: 'redirectUriSize',
  id_token_hint: 'signedParameterSize',
  client_assertion: 'signedParameterSize',
  request: 'signedParameterSize',
};

/**
 * Refuses a request of which too much would be kept, before the library sees it: whole requests,
 * and each parameter on its own. A body is read here, within its bound, and handed on as it came.
 * Returns how many bytes the request says.
 */
export async function boundRequest(request: IncomingMessage, limits: Limits): Promise<number> {
  const query = request.url!.split('?').slice(1).join('?');
  refuseLong(query, limits);
  if (request.method !== 'POST') return Buffer.byteLength(query);
  const body = await readBounded(request, limits.authorizationRequestSize);
  handBack(request, body);
  refuseLong(body.toString(), limits);
  return Buffer.byteLength(query) + body.length;
}

/** Throws {@link OverBound} for a form, or a query, that is too long or has a parameter that is. */
function refuseLong(form: string, limits: Limits): void {
  if (Buffer.byteLength(form) > limits.authorizationRequestSize)
    throw tooLong(limits.authorizationRequestSize);
  for (const [name, value] of new URLSearchParams(form)) {
    const max = boundOf(name, limits);
    if (Buffer.byteLength(value) > max)
      throw new OverBound(
        `${/^\w{1,40}$/.test(name) ? name : 'a parameter'} is over ${max} bytes`,
        named.has(name) ? { [name]: shown(value) } : {},
      );
  }
}

function boundOf(name: string, limits: Limits): number {
  if (Object.hasOwn(bounds, name)) return bounds[name]!;
  return limits[Object.hasOwn(settable, name) ? settable[name]! : 'authorizationParameterSize'];
}

const tooLong = (max: number): OverBound => new OverBound(`the request is over ${max} bytes`);

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

/**
 * Lets the library read a body that has been read already: it asks whether there is one, and
 * iterates over it.
 */
function handBack(request: IncomingMessage, body: Buffer): void {
  Object.defineProperties(request, {
    readable: { value: true, configurable: true },
    iterator: {
      value: () => Readable.from(body.length > 0 ? [body] : []).iterator(),
      configurable: true,
    },
  });
}
