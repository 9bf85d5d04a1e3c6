import cookieParser from 'cookie-parser';
import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../security/bounded-map.js';
import type { Authenticator, AuthenticationRequest } from '../../registry/authenticator.js';
import { cookieValues } from '../../security/cookie-header.js';
import type { Caller } from '../../registry/kind.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import { forbidden, StatusError, unauthorized } from '../../registry/status.js';
import { withSpan } from '../../observability/tracer.js';
import type { ApiRequest } from '../http/message.js';
import type { RequestHeaderAuthenticator } from '../requestheader/authenticator.js';
import { isBrowser } from '../http/headers.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import type { Step } from './step.js';

const identity = (text: string): string => text;
const split = cookieParser(undefined, { decode: identity });
const visitor: Caller = { type: 'Anonymous' };

/** Parsed Cookie headers: a browser sends the same one with every request. */
const parsed = new BoundedMap<string, Readonly<Record<string, unknown>>>(5_000);

function parse(cookie: string): Readonly<Record<string, unknown>> {
  let cookies = parsed.get(cookie);
  if (cookies) return cookies;
  const held: { headers: { cookie: string }; cookies?: Record<string, unknown> } = {
    headers: { cookie },
  };
  split(held as never, {} as never, () => {});
  cookies = held.cookies ?? {};
  if (cookie.length <= 1_024) parsed.set(cookie, cookies);
  return cookies;
}

/**
 * Returns the value of a cookie as sent; undefined if it was sent with two values, or if parsing
 * changed it.
 */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const value = header === undefined ? undefined : parse(header)[name];
  if (typeof value !== 'string' || value === '') return undefined;
  return isPlain(header!, name) || cookieValues(header, name).every((one) => one === value)
    ? value
    : undefined;
}

/** Whether a name occurs once and without quotes. */
function isPlain(header: string, name: string): boolean {
  const at = header.indexOf(`${name}=`);
  return at === header.lastIndexOf(`${name}=`) && !header.includes('"', at);
}

/** The credentials of a request. */
class Shown implements AuthenticationRequest {
  readonly request: IncomingMessage;
  readonly bound?: string;

  constructor(request: IncomingMessage, bound: string | undefined) {
    this.request = request;
    if (bound !== undefined) this.bound = bound;
  }

  /** Returns no cookie if there is an Authorization header. */
  cookie(name: string): string | undefined {
    const { authorization, cookie } = this.request.headers;
    return authorization === undefined ? cookieOf(cookie, name) : undefined;
  }
}

/** Reports whether a request asks for impersonation (kubectl `--as`). */
export function impersonates({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

type Attempts = Metrics['authenticationAttempts'];

/**
 * Authenticates a request: the user of a trusted front proxy, else the first authenticator that
 * knows the credential. An invalid token is never anonymous
 * (docs/design/kubernetes.md#authentication).
 */
export class Authentication {
  readonly #authenticators: readonly Authenticator[];
  readonly #frontProxy: RequestHeaderAuthenticator;
  readonly #attempts: Attempts | undefined;

  /** `attempts` counts credentials by outcome; a request without one is not counted. */
  constructor(
    authenticators: readonly Authenticator[],
    frontProxy: RequestHeaderAuthenticator,
    attempts?: Attempts,
  ) {
    this.#authenticators = authenticators;
    this.#frontProxy = frontProxy;
    this.#attempts = attempts;
  }

  /** Authenticates the caller, if the response depends on it. */
  readonly step: Step = async (req) => {
    const requestInfo = req.requestInfo!;
    if (requestInfo.type === 'resource')
      req.caller = await this.caller(req, boundName(requestInfo));
    else if (isJudged(req)) req.caller = await this.caller(req, undefined);
  };

  /**
   * Returns the caller of a request. `bound` is the object that a browser must be bound to. With
   * `again`, the request is checked once more and not counted.
   */
  async caller(request: ApiRequest, bound: string | undefined, again = false): Promise<Caller> {
    if (impersonates(request)) throw forbidden('impersonation is not served');
    if (request.claim) return this.#frontProxy.caller(request) ?? visitor;
    const bearer = request.headers.authorization !== undefined;
    if (bearer && isBrowser(request)) throw forbidden('a browser’s request must not carry a token');
    if (!bearer && request.headers.cookie === undefined) return visitor;
    const found = (): Promise<Caller> =>
      withSpan(
        'authenticate',
        () => this.#ask(new Shown(request, bound), bearer),
        ({ type }) => ({ 'vestibule.caller': type }),
      );
    return !this.#attempts || again ? found() : counted(this.#attempts, found);
  }

  async #ask(presented: AuthenticationRequest, bearer: boolean): Promise<Caller> {
    for (const authenticator of this.#authenticators) {
      const caller = await authenticator(presented);
      if (caller) return caller;
    }
    if (bearer) throw unauthorized();
    return visitor;
  }
}

/** Returns the name of the requested object, if its kind is bound to a cookie. */
export const boundName = ({ kind, name }: ResourceRequestInfo): string | undefined =>
  kind.boundToCookie ? name : undefined;

/**
 * Reports whether the token is verified here. The provider verifies its own, and health checks are
 * open (docs/design/kubernetes.md#authentication).
 */
function isJudged(req: ApiRequest): boolean {
  const { type } = req.requestInfo!;
  if (type === 'review') return true;
  if (type === 'health' || type === 'provider') return false;
  return req.headers.authorization !== undefined || impersonates(req);
}

/** Counts the outcome of a credential; an unknown cookie is not counted. */
async function counted(attempts: Attempts, found: () => Promise<Caller>): Promise<Caller> {
  try {
    const caller = await found();
    if (caller.type !== 'Anonymous') attempts.inc({ result: 'success' });
    return caller;
  } catch (error) {
    const failed = error instanceof StatusError && error.code < 500;
    attempts.inc({ result: failed ? 'failure' : 'error' });
    throw error;
  }
}
