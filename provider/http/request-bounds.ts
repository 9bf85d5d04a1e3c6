import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { errors, type ProviderContext } from 'oidc-provider';
import type { LimitName, Limits } from '../../registry/limits/limit-settings.js';
import { pathOf, queryOf, routes } from '../context/routes.js';
import { isPostToRedirect } from './post-to-get.js';
import { showableText } from './wrong-parameters.js';

/** A request whose size, or one of whose parameters, exceeds its bound; the message names which. */
export class RequestBoundsError extends Error {
  override readonly name = 'RequestBoundsError';
  /** The too long parameter as it may be shown; empty if the whole request is too long. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The `client_id` of the request, if it was read. */
  clientID: string | undefined;

  constructor(message: string, parameters: Readonly<Record<string, string>> = {}) {
    super(message);
    this.parameters = parameters;
  }
}

/** The parameters that may be shown and logged if they are wrong. */
const showable: ReadonlySet<string> = new Set(['client_id', 'redirect_uri', 'scope']);

const promptBound = 128;

/**
 * The bounds in bytes of parameters whose length a standard or the API limits. They are not
 * settings, because longer values are never valid.
 */
const fixedBounds: ReadonlyMap<string, number> = new Map([
  ['client_id', 253],
  ['code_challenge', 128],
  ['code_challenge_method', 128],
  ['prompt', promptBound],
  ['max_age', 128],
  ['display', 128],
  ['response_type', 128],
  ['response_mode', 128],
  ['dpop_jkt', 128],
]);

/**
 * The settings with the bound in bytes of a parameter; all others use `authorizationParameterSize`.
 */
const boundSettings: ReadonlyMap<string, LimitName> = new Map([
  ['state', 'stateSize'],
  ['nonce', 'nonceSize'],
  ['redirect_uri', 'redirectUriSize'],
  ['id_token_hint', 'signedParameterSize'],
  ['client_assertion', 'signedParameterSize'],
  ['request', 'signedParameterSize'],
]);

/** Parameters that a request is answered without if they are too long; so are those that are not known. */
const hints: ReadonlySet<string> = new Set([
  'login_hint',
  'logout_hint',
  'ui_locales',
  'claims_locales',
  'display',
  'id_token_hint',
]);

const known: ReadonlySet<string> = new Set([
  ...fixedBounds.keys(),
  ...boundSettings.keys(),
  'scope',
  'acr_values',
  'claims',
  'resource',
  'request_uri',
  'registration',
  'authorization_details',
  'post_logout_redirect_uri',
  'client_secret',
  'client_assertion_type',
  'user_code',
  'xsrf',
]);

/** OpenID Connect Core §3.1.2.1, without `create` (Initiating User Registration 1.0). */
const prompts: ReadonlySet<string> = new Set(['none', 'login', 'consent', 'select_account']);

/** Parameters without which an error of an authorization request cannot be sent to its Client. */
const addressing: ReadonlySet<string> = new Set([
  'client_id',
  'redirect_uri',
  'request',
  'request_uri',
]);

/** Returns the known values of `prompt`; a new account is made at the sign-in, like any other. */
const knownPrompts = (sent: string): string =>
  Buffer.byteLength(sent) > promptBound
    ? sent
    : [...new Set(sent.split(' ').map((prompt) => (prompt === 'create' ? 'login' : prompt)))]
        .filter((prompt) => prompts.has(prompt))
        .join(' ');

/** Returns a parameter as it is read: known prompts, and scopes with one space between them. */
function readable(name: string, sent: string): string {
  if (name === 'prompt') return knownPrompts(sent);
  return name === 'scope' ? sent.trim().replaceAll(/[ \t\r\n]+/g, ' ') : sent;
}

/** Stands for a hint that is too long: it may be about someone else than is signed in. */
const unbelievableHint = '-';

/** Reports whether a parameter of an authorization request that is too long is an error for its Client. */
const isAnswered = (name: string): boolean =>
  known.has(name) && !hints.has(name) && !addressing.has(name);

const problems = new WeakMap<IncomingMessage, string>();

/**
 * Throws if a parameter of the authorization request was too long and is empty now. oidc-provider calls it
 * once the redirect URI is known.
 */
export function assertNothingTooLong({ req }: ProviderContext): void {
  const problem = problems.get(req);
  if (problem !== undefined) throw new errors.InvalidRequest(problem);
}

/**
 * Applies the bounds to a request before oidc-provider sees it. Reads a body and puts it back. Returns the
 * bytes that the parameters of query and body take in the store, and the names of those that are ignored.
 *
 * The whole is counted without what is too long. A hint that is too long is emptied, as any parameter of a sign-out is, which then is not believed. Another
 * parameter of an authorization request is emptied, too, and is an error that its Client is sent
 * ({@link assertNothingTooLong}; RFC 6749 §4.1.2.1). Throws {@link RequestBoundsError} for others, and for a whole
 * request that is too long.
 */
export async function applyRequestBounds(
  request: IncomingMessage,
  limits: Limits,
): Promise<{ bytes: number; ignored: readonly string[] }> {
  const max = limits.authorizationRequestSize;
  if (isPostToRedirect(request)) {
    restoreBody(request, await readBounded(request, max));
    return { bytes: 0, ignored: [] }; // Its parameters come again, by GET.
  }
  const ignored: string[] = [];
  let isRewritten = false;
  const path = pathOf(request);
  const bound = (form: string): URLSearchParams => {
    const entries = [...new URLSearchParams(form)].map(([name, sent]): [string, string] => {
      const value = readable(name, sent);
      isRewritten ||= value !== sent;
      if (value !== sent && name === 'prompt') ignored.push(name);
      const most = boundOf(name, limits);
      if (Buffer.byteLength(value) <= most) return [name, value];
      isRewritten = true;
      const problem = `${/^\w{1,40}$/.test(name) ? name : 'a parameter'} is over ${most} bytes`;
      if (path === routes.authorization && isAnswered(name)) {
        problems.set(request, problem);
      } else if (path === routes.end_session || hints.has(name) || !known.has(name)) {
        ignored.push(name);
      } else {
        throw new RequestBoundsError(
          problem,
          showable.has(name) ? { [name]: showableText(value) } : {},
        );
      }
      return [name, name === 'id_token_hint' ? unbelievableHint : ''];
    });
    const kept = new URLSearchParams(entries);
    if (Math.min(Buffer.byteLength(form), Buffer.byteLength(String(kept))) > max) {
      throw tooLong(max);
    }
    return kept;
  };
  const named = (form: string): URLSearchParams => {
    try {
      return bound(form);
    } catch (error) {
      if (error instanceof RequestBoundsError) {
        error.clientID = new URLSearchParams(form).get('client_id') ?? undefined;
      }
      throw error;
    }
  };
  const query = named(queryOf(request.url));
  if (isRewritten) request.url = `${path}?${query}`;
  if (request.method !== 'POST') return { bytes: storedBytes(query), ignored };
  const body = await readBounded(request, max);
  const form = named(body.toString());
  restoreBody(request, isRewritten ? Buffer.from(form.toString()) : body);
  return { bytes: storedBytes(query) + storedBytes(form), ignored };
}

/** Sealed records are base64, which takes four bytes for three. */
const sealedFactor = 4 / 3;

/** Returns the bytes of parameters in a sealed record, where a character may take six. */
const storedBytes = (parameters: URLSearchParams): number =>
  [...parameters].reduce(
    (sum, entry) => sum + Math.ceil(Buffer.byteLength(JSON.stringify(entry)) * sealedFactor),
    0,
  );

const boundOf = (name: string, limits: Limits): number =>
  fixedBounds.get(name) ?? limits[boundSettings.get(name) ?? 'authorizationParameterSize'];

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
  if (request.headers['content-length'] !== undefined) {
    request.headers['content-length'] = String(body.length);
  }
  Object.defineProperties(request, {
    readable: { value: true, configurable: true },
    iterator: {
      value: () => Readable.from(body.length > 0 ? [body] : []).iterator(),
      configurable: true,
    },
  });
}
