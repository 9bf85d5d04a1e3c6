import cookieParser from 'cookie-parser';
import type { IncomingMessage } from 'node:http';
import type { Authenticator, Presented } from '../../registry/authenticator.js';
import { cookieValues } from '../../security/cookie-header.js';
import type { Caller } from '../../registry/kind.js';
import type { Tally } from '../../observability/counters.js';
import { forbidden, StatusError, unauthorized } from '../../registry/status.js';
import { traced } from '../../observability/tracer.js';
import type { Req } from '../http/message.js';
import type { FrontProxy } from '../requestheader/authenticator.js';
import { isBrowser } from '../http/headers.js';

const identity = (text: string): string => text;
const split = cookieParser(undefined, { decode: identity });
const visitor: Caller = { type: 'Visitor' };

/** Cookie headers as they were taken apart: a browser sends the same one with every request. */
const parsed = new Map<string, Readonly<Record<string, unknown>>>();
const remembered = 5_000;

function parse(cookie: string): Readonly<Record<string, unknown>> {
  let cookies = parsed.get(cookie);
  if (cookies) return cookies;
  const held: { headers: { cookie: string }; cookies?: Record<string, unknown> } = {
    headers: { cookie },
  };
  split(held as never, {} as never, () => {});
  cookies = held.cookies ?? {};
  if (cookie.length > 1_024) return cookies;
  if (parsed.size >= remembered) parsed.delete(parsed.keys().next().value!);
  parsed.set(cookie, cookies);
  return cookies;
}

/**
 * The one value of a cookie, as it was sent: two different ones under a name do not count, nor one
 * that the split made an object or took quotes from.
 */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const value = header === undefined ? undefined : parse(header)[name];
  if (typeof value !== 'string' || value === '') return undefined;
  return isPlain(header!, name) || cookieValues(header, name).every((one) => one === value)
    ? value
    : undefined;
}

/** Whether a name can stand in the header but once, and without quotes. */
function isPlain(header: string, name: string): boolean {
  const at = header.indexOf(`${name}=`);
  return at === header.lastIndexOf(`${name}=`) && !header.includes('"', at);
}

/** What authenticators look at. */
class Shown implements Presented {
  readonly request: IncomingMessage;
  readonly bound?: string;

  constructor(request: IncomingMessage, bound: string | undefined) {
    this.request = request;
    if (bound !== undefined) this.bound = bound;
  }

  /** With an Authorization header the cookies do not count. */
  cookie(name: string): string | undefined {
    const { authorization, cookie } = this.request.headers;
    return authorization === undefined ? cookieOf(cookie, name) : undefined;
  }
}

/** Whether a request wants to be taken for somebody else's (kubectl `--as`). */
export function impersonates({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/**
 * Step 3 of a request: whom a front proxy vouches for, else the first authenticator that knows who
 * it is; a bad token is never "nobody" (`kubernetes.md` 7).
 */
export class Authentication {
  readonly #authenticators: readonly Authenticator[];
  readonly #frontProxy: FrontProxy;
  readonly #attempts: Tally | undefined;

  /** `attempts` counts credentials by what became of them; a request without any is none. */
  constructor(authenticators: readonly Authenticator[], frontProxy: FrontProxy, attempts?: Tally) {
    this.#authenticators = authenticators;
    this.#frontProxy = frontProxy;
    this.#attempts = attempts;
  }

  /**
   * Who it is; at once where nothing has to be waited for. `again` where the same request is asked
   * about once more.
   */
  caller(request: Req, bound: string | undefined, again = false): Caller | Promise<Caller> {
    if (impersonates(request)) throw forbidden('impersonation is not served');
    if (request.claim) return this.#frontProxy.caller(request) ?? visitor;
    const bearer = request.headers.authorization !== undefined;
    if (bearer && isBrowser(request)) throw forbidden('a browser’s request must not carry a token');
    if (!bearer && request.headers.cookie === undefined) return visitor;
    const found = (): Caller | Promise<Caller> =>
      traced(
        'authenticate',
        () => this.#ask(new Shown(request, bound), 0, bearer),
        ({ type }) => ({ 'vestibule.caller': type }),
      );
    return !this.#attempts || again ? found() : counted(this.#attempts, found);
  }

  #ask(presented: Presented, from: number, bearer: boolean): Caller | Promise<Caller> {
    for (let i = from; i < this.#authenticators.length; i += 1) {
      const answer = this.#authenticators[i]!(presented);
      if (answer instanceof Promise)
        return answer.then((caller) => caller ?? this.#ask(presented, i + 1, bearer));
      if (answer) return answer;
    }
    if (bearer) throw unauthorized();
    return visitor;
  }
}

/**
 * Counts whom a credential turned out to be of; a cookie that is nobody's (any more) counts for
 * nothing here, as it does everywhere.
 */
function counted(attempts: Tally, found: () => Caller | Promise<Caller>): Caller | Promise<Caller> {
  const known = (caller: Caller): Caller => {
    if (caller.type !== 'Visitor') attempts.add('success');
    return caller;
  };
  const failed = (error: unknown): never => {
    attempts.add(error instanceof StatusError && error.code < 500 ? 'failure' : 'error');
    throw error;
  };
  try {
    const caller = found();
    return caller instanceof Promise ? caller.then(known, failed) : known(caller);
  } catch (error) {
    return failed(error);
  }
}
