import { request as http, type IncomingHttpHeaders } from 'node:http';
import { request as https } from 'node:https';
import type { Status } from '../../../registry/status/status.js';
import { conforms } from '../contract.js';
import { repeats } from '../repeats.js';
import { seen } from '../secrets.js';

/** One answer, whole. */
export interface Answer<T = any> {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly body: T;
}

interface Cookie {
  name: string;
  value: string;
  path: string;
}

/** How a request differs from a same-origin fetch of a browser. */
export interface Init {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: string | Buffer;
  /** No browser's headers at all. */
  readonly plain?: boolean;
  readonly cookies?: boolean;
}

/** The target of a request: of an address its path, and of a bare path one of the API. */
function targetOf(path: string): string {
  if (path.startsWith('http')) return path.slice(new URL(path).origin.length);
  return path.startsWith('/') ? path : `/api/v1beta1/${path}`;
}

/** A promise of an answer that can be held to what it should be. */
export class Pending<T = any> implements PromiseLike<Answer<T>> {
  readonly #answer: Promise<Answer<T>>;
  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer;
  }
  // oxlint-disable-next-line unicorn/no-thenable -- an answer is awaited or held to account
  then<A, B>(
    good?: ((value: Answer<T>) => A | PromiseLike<A>) | null,
    bad?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(good, bad);
  }

  /** The answer, which must have this code. */
  async is(code: number): Promise<Answer<T>> {
    const answer = await this.#answer;
    if (answer.code !== code) {
      throw new Error(
        `expected ${code}, got ${answer.code}: ${answer.bytes.toString().slice(0, 600)}`,
      );
    }
    return answer;
  }

  /**
   * The Status of a refusal, whole: code, reason, empty metadata and, where given, the field of a
   * cause.
   */
  async fails(
    code: number,
    reason: string,
    field?: string,
  ): Promise<Status & { headers: IncomingHttpHeaders }> {
    const { body, headers } = (await this.is(code)) as Answer<Status>;
    if (
      body.kind !== 'Status' ||
      body.apiVersion !== 'v1' ||
      body.status !== 'Failure' ||
      JSON.stringify(body.metadata) !== '{}' ||
      body.code !== code ||
      body.reason !== reason
    ) {
      throw new Error(`not the Status of a ${reason}: ${JSON.stringify(body)}`);
    }
    if (field !== undefined && !body.details?.causes?.some((cause) => cause.field === field)) {
      throw new Error(`no cause at ${field}: ${JSON.stringify(body.details)}`);
    }
    const wait = body.details?.retryAfterSeconds;
    if ((wait === undefined ? undefined : String(wait)) !== headers['retry-after']) {
      throw new Error(`Retry-After ${headers['retry-after']} is not ${wait}`);
    }
    return { ...body, headers };
  }
}

/**
 * A browser with its cookies; every answer of the API it sees is held against the served OpenAPI
 * document.
 */
export class Tab {
  readonly base: string;
  readonly origin: string;
  cookies: Cookie[] = [];
  /** Sent with every request, such as a user agent. */
  headers: Readonly<Record<string, string | string[]>> = {};
  /** How it connects where that is by TLS: whom it trusts, what it proves. */
  tls: object = {};
  /**
   * Whether it repeats what the store had no time for, as any caller may: nothing was written, or
   * no one knows.
   */
  patient = false;

  /** `base` is where it connects, `origin` what it believes the service to be. */
  constructor(base: string, origin: string) {
    this.base = base;
    this.origin = origin;
  }

  get<T = any>(path: string, init: Init = {}): Pending<T> {
    return this.send('GET', path, init);
  }
  post<T = any>(path: string, body?: unknown, init: Init = {}): Pending<T> {
    return this.send('POST', path, {
      ...json(body),
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    });
  }
  put<T = any>(path: string, body: unknown, init: Init = {}): Pending<T> {
    return this.send('PUT', path, {
      ...json(body),
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    });
  }
  patch<T = any>(path: string, body: unknown, init: Init = {}): Pending<T> {
    return this.send('PATCH', path, {
      ...json(body),
      ...init,
      headers: { 'content-type': 'application/merge-patch+json', ...init.headers },
    });
  }
  delete<T = any>(path: string, init: Init = {}): Pending<T> {
    return this.send('DELETE', path, init);
  }

  /**
   * A request as a script on our own page would send it; paths without a leading slash are below
   * /api/v1beta1/.
   */
  send<T = any>(method: string, path: string, init: Init = {}): Pending<T> {
    return new Pending(this.#send(method, path, init));
  }

  /** Follows a redirect target as a navigating browser. */
  navigate(path: string): Pending {
    return this.send('GET', path, {
      headers: {
        accept: 'text/html,*/*;q=0.8',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
        'sec-fetch-site': 'none',
      },
    });
  }

  /** The value of a cookie this browser holds. */
  cookie(name: string): string | undefined {
    return this.cookies.find((cookie) => cookie.name === name)?.value;
  }

  async #send(method: string, path: string, init: Init): Promise<Answer> {
    const target = targetOf(path);
    const own = init.plain
      ? {}
      : {
          'sec-fetch-site': 'same-origin',
          'sec-fetch-mode': 'cors',
          ...(method !== 'GET' && { origin: this.origin }),
        };
    const cookie = init.cookies === false ? '' : this.#cookieHeader(target);
    const headers: Record<string, string | string[] | undefined> = {
      accept: 'application/json',
      ...own,
      ...(cookie && { cookie }),
      ...this.headers,
      ...init.headers,
    };
    for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
    let answer: Answer;
    do {
      answer = await exchange(
        this.base,
        method,
        target,
        headers as Record<string, string | string[]>,
        init.body,
        this.tls,
      );
    } while (this.patient && repeats.allows(`${answer.code} ${messageOf(answer)}`));
    this.#keep(answer);
    seen.note(answer, init.body);
    conforms(method, target, answer);
    return answer;
  }

  /** As browsers send them: those of longer paths first (RFC 6265 5.4). */
  #cookieHeader(target: string): string {
    const path = target.split('?')[0]!;
    const sent = this.cookies.filter(
      (cookie) =>
        path === cookie.path ||
        path.startsWith(cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`),
    );
    return sent
      .sort((one, other) => other.path.length - one.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keep({ headers }: Answer): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [pair, ...attributes] = line.split(';').map((part) => part.trim()) as [
        string,
        ...string[],
      ];
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
      const over =
        attributes.some(
          (attribute) =>
            /^expires=/i.test(attribute) && Date.parse(attribute.slice(8)) <= Date.now(),
        ) || attributes.some((attribute) => /^max-age=0$/i.test(attribute));
      this.cookies = this.cookies.filter((held) => held.name !== name || held.path !== path);
      if (!over && value !== '') this.cookies.push({ name, value, path });
    }
  }
}

/** The message of a Status, or the heading of a page. */
const messageOf = ({ body, bytes }: Answer): unknown =>
  body?.message ?? /<h1[^>]*>([^<]*)</.exec(bytes.toString())?.[1];

const json = (body: unknown): { body?: string } =>
  body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };

/** One request on a connection of its own. */
export function exchange(
  base: string,
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
  body?: string | Buffer,
  tls: object = {},
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const req = (base.startsWith('https:') ? https : http)(
      {
        agent: false,
        ...tls,
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers: { ...length, ...headers },
      },
      (res) => {
        const chunks: Buffer[] = [];
        res
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', reject)
          .on('end', () => {
            const bytes = Buffer.concat(chunks);
            const isJSON =
              /json/.test(res.headers['content-type'] ?? '') &&
              bytes.length > 0 &&
              method !== 'HEAD';
            resolve({
              code: res.statusCode!,
              headers: res.headers,
              rawHeaders: res.rawHeaders,
              bytes,
              body: isJSON ? JSON.parse(bytes.toString()) : undefined,
            });
          });
      },
    );
    req.on('error', reject).end(body);
  });
}
