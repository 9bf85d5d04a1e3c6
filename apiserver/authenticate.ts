import cookieParser from 'cookie-parser';
import type { IncomingMessage } from 'node:http';
import type { Authenticator, Presented } from '../registry/authenticator.js';
import type { Caller } from '../registry/kind.js';
import { forbidden, unauthorized } from '../registry/status.js';
import { isBrowser } from './origin.js';

const identity = (text: string): string => text;
const split = cookieParser(undefined, { decode: identity });
const visitor: Caller = { type: 'Visitor' };

/** The one value of each cookie: two different ones under a name, or one that was made an object, do not count. */
function cookiesOf(request: IncomingMessage): (name: string) => string | undefined {
  let parsed: Record<string, unknown> | undefined;
  return (name) => {
    if (request.headers.cookie === undefined) return undefined;
    if (!parsed) {
      const held = { headers: request.headers } as { headers: IncomingMessage['headers']; cookies?: Record<string, unknown> };
      split(held as never, {} as never, () => {});
      parsed = held.cookies ?? {};
    }
    const value = parsed[name];
    if (typeof value !== 'string' || value === '') return undefined;
    return valuesOf(request.headers.cookie, name).every((one) => one === value) ? value : undefined;
  };
}

const valuesOf = (header: string, name: string): string[] =>
  header.split(';').map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1).replace(/^"(.*)"$/, '$1'));

/** Step 3 of a request: the first authenticator that knows who it is; a bad token is never "nobody" (`kubernetes.md` 7). */
export class Authentication {
  readonly #authenticators: readonly Authenticator[];

  constructor(authenticators: readonly Authenticator[]) { this.#authenticators = authenticators }

  async caller(request: IncomingMessage, bound: string | undefined): Promise<Caller> {
    for (const name of Object.keys(request.headers)) if (name.startsWith('impersonate-')) throw forbidden('impersonation is not served');
    const bearer = request.headers.authorization !== undefined;
    if (bearer && isBrowser(request)) throw forbidden('a browser’s request must not carry a token');
    if (!bearer && request.headers.cookie === undefined) return visitor;
    const presented: Presented = { request, cookie: cookiesOf(request), ...(bound !== undefined && { bound }) };
    for (const authenticator of this.#authenticators) {
      const caller = await authenticator(presented);
      if (caller) return caller;
    }
    if (bearer) throw unauthorized();
    return visitor;
  }
}
