import type { IncomingMessage } from 'node:http';
import cookieParser from 'cookie-parser';
import type { ApiServerMetrics } from '../../observability/metrics/api-server-metrics.js';
import { withSpan } from '../../observability/tracer.js';
import type { AuthenticationRequest, Authenticator } from '../../registry/authenticator.js';
import { anonymous } from '../../registry/caller.js';
import type { Awaitable, Caller } from '../../registry/kind.js';
import { forbidden, StatusError, unauthorized } from '../../registry/status/status.js';
import { cookieValues } from '../../security/cookie-header.js';
import { isBrowser } from '../http/headers.js';
import type { ApiRequest, ParsedRequest } from '../http/message.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import type { RequestHeaderAuthenticator } from '../requestheader/authenticator.js';
import type { ClientCertificates } from '../requestheader/client-certificates.js';
import type { Step } from './step.js';

const keepEncoded = (text: string): string => text;
const parseCookies: (request: ApiRequest, response: object, next: () => void) => void =
  cookieParser(undefined, { decode: keepEncoded }) as never;

/** The credentials of a request. */
class RequestCredentials implements AuthenticationRequest {
  readonly request: ApiRequest;
  readonly boundName?: string;

  constructor(request: ApiRequest, bound: string | undefined) {
    this.request = request;
    if (bound !== undefined) this.boundName = bound;
    if (request.headers.authorization === undefined) parseCookies(request, {}, () => {});
  }

  /**
   * Returns a cookie as it was sent. There is none with an Authorization header, or if the parser
   * changed a value of this name or left one out (docs/design/security.md#cookies).
   */
  cookie(name: string): string | undefined {
    const value = this.request.cookies?.[name];
    return typeof value === 'string' &&
      value !== '' &&
      cookieValues(this.request.headers.cookie, name).every((sent) => sent === value)
      ? value
      : undefined;
  }
}

/** Reports whether a request asks for impersonation (kubectl `--as`). */
export function requestsImpersonation({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

type Attempts = ApiServerMetrics['authenticationAttempts'];

/**
 * Authenticates a request: the user of a trusted front proxy, else of a client certificate, else the
 * first authenticator that knows the credential. An invalid credential is never anonymous
 * (docs/design/kubernetes.md#authentication).
 */
export class Authentication {
  readonly #authenticators: readonly Authenticator[];
  readonly #frontProxy: RequestHeaderAuthenticator;
  readonly #certificates: ClientCertificates;
  readonly #attempts: Attempts | undefined;

  /** `attempts` counts credentials by outcome; a request without one is not counted. */
  constructor(
    authenticators: readonly Authenticator[],
    frontProxy: RequestHeaderAuthenticator,
    certificates: ClientCertificates,
    attempts?: Attempts,
  ) {
    this.#authenticators = authenticators;
    this.#frontProxy = frontProxy;
    this.#certificates = certificates;
    this.#attempts = attempts;
  }

  /** Authenticates the caller, if the response depends on it. */
  readonly step: Step<ParsedRequest> = async (req) => {
    const { requestInfo } = req;
    if (requestInfo.type === 'resource') {
      req.caller = await this.caller(req, boundName(requestInfo));
    } else if (verifiesCredential(req)) {
      req.caller = await this.caller(req, undefined);
    }
  };

  /**
   * Returns the caller of a request. `bound` is the object that a browser must be bound to. With
   * `isRecheck`, the request is checked once more and not counted.
   */
  caller(request: ApiRequest, bound: string | undefined, isRecheck = false): Awaitable<Caller> {
    if (requestsImpersonation(request)) throw forbidden('impersonation is not served');
    if (request.assertedHeaders) return this.#frontProxy.caller(request) ?? anonymous;
    const certified = this.#certificates.caller(request.socket);
    if (certified) return certified;
    const bearer = request.headers.authorization !== undefined;
    if (bearer && isBrowser(request)) throw forbidden('a browser’s request must not carry a token');
    if (!bearer && request.headers.cookie === undefined) return this.#anonymous(request);
    const attempts = isRecheck ? undefined : this.#attempts;
    return withSpan(
      'authenticate',
      () => this.#tryAuthenticators(new RequestCredentials(request, bound), bearer, attempts),
      ({ type }) => ({ 'vestibule.caller': type }),
    );
  }

  /** Returns who has no credential; throws 401 for a certificate that names no user and no proxy. */
  #anonymous({ socket }: Pick<IncomingMessage, 'socket'>): Caller {
    if (this.#certificates.isPresented(socket) && !this.#frontProxy.isTrusted(socket)) {
      throw unauthorized();
    }
    return anonymous;
  }

  /** Counts the outcome of a credential in `attempts`; an unknown cookie is not counted. */
  async #tryAuthenticators(
    credentials: AuthenticationRequest,
    bearer: boolean,
    attempts: Attempts | undefined,
  ): Promise<Caller> {
    try {
      for (const authenticator of this.#authenticators) {
        const caller = authenticator(credentials);
        const known = caller instanceof Promise ? await caller : caller;
        if (!known) continue;
        attempts?.inc({ result: 'success' });
        return known;
      }
      if (bearer) throw unauthorized();
      return this.#anonymous(credentials.request);
    } catch (error) {
      const isFailure = error instanceof StatusError && error.code < 500;
      attempts?.inc({ result: isFailure ? 'failure' : 'error' });
      throw error;
    }
  }
}

/** Returns the name of the requested object, if its kind has holders. */
export const boundName = ({ kind, name }: ResourceRequestInfo): string | undefined =>
  kind.heldBy ? name : undefined;

/**
 * Reports whether the token is verified here. The provider verifies its own, and health checks are
 * open (docs/design/kubernetes.md#authentication).
 */
function verifiesCredential(req: ParsedRequest): boolean {
  const { type } = req.requestInfo;
  if (type === 'review' || type === 'metrics') return true;
  if (type === 'health' || type === 'provider') return false;
  return req.headers.authorization !== undefined || requestsImpersonation(req);
}
