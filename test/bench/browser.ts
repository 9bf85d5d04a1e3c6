import { type Answer, type Connection, headerOf, headersOf, requestBytes } from './connection.js';

/** A cookie it holds. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const navigation = {
  Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'Sec-Fetch-Site': 'none',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
};
const script = {
  Accept: 'application/json',
  'Sec-Fetch-Site': 'same-origin',
  'Sec-Fetch-Mode': 'cors',
  'Sec-Fetch-Dest': 'empty',
};
const agent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** A browser as a server sees it: headers, cookies, no script. */
export class Browser {
  readonly #connection: Connection;
  readonly #origin: string;
  readonly #host: string;
  #cookies: Cookie[];

  constructor(connection: Connection, origin: string, cookies: readonly Cookie[] = []) {
    this.#cookies = [...cookies];
    this.#connection = connection;
    this.#origin = origin;
    this.#host = new URL(origin).host;
  }

  /** The cookies it holds. */
  get cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Opens an address; must answer `code`. */
  navigate(target: string, code: number): Promise<Answer> {
    return this.#send('GET', target, navigation, '', code);
  }

  /** Fetches JSON as a script of the page does. */
  async fetch(target: string): Promise<any> {
    return parsed(await this.#send('GET', target, script, '', 200));
  }

  /** Posts JSON as a script of the page does; must answer `code`. */
  async post(target: string, body: unknown, code = 200): Promise<any> {
    return parsed(
      await this.#send(
        'POST',
        target,
        { ...script, Origin: this.#origin, 'Content-Type': 'application/json' },
        JSON.stringify(body),
        code,
      ),
    );
  }

  /** Submits a form of a page; must answer `code`. */
  submit(target: string, fields: Readonly<Record<string, string>>, code: number): Promise<Answer> {
    return this.#send(
      'POST',
      target,
      {
        ...navigation,
        Origin: this.#origin,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      new URLSearchParams(fields).toString(),
      code,
    );
  }

  /** The bytes of a request by a script of the page, with the cookies that belong to it. */
  bytes(
    method: string,
    target: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): string {
    const cookie = this.#cookieHeader(target);
    return requestBytes(
      method,
      target,
      {
        Host: this.#host,
        'User-Agent': agent,
        ...script,
        ...(method !== 'GET' && { Origin: this.#origin }),
        ...headers,
        ...(cookie && { Cookie: cookie }),
      },
      body,
    );
  }

  async #send(
    method: string,
    target: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    code: number,
  ): Promise<Answer> {
    const path = target.startsWith('/') ? target : target.slice(this.#origin.length);
    const cookie = this.#cookieHeader(path);
    const answer = await this.#connection.exchange(
      requestBytes(
        method,
        path,
        { Host: this.#host, 'User-Agent': agent, ...headers, ...(cookie && { Cookie: cookie }) },
        body,
      ),
    );
    if (answer.code !== code) {
      throw new Error(
        `${method} ${path} answered ${answer.code} in place of ${code}: ${answer.body.toString().slice(0, 400)}`,
      );
    }
    for (const line of headersOf(answer.head, 'set-cookie')) this.#keep(line);
    return answer;
  }

  #cookieHeader(target: string): string {
    const path = target.split('?')[0]!;
    return this.#cookies
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keep(line: string): void {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim()) as [
      string,
      ...string[],
    ];
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    this.#cookies = this.#cookies.filter((held) => held.name !== name || held.path !== path);
    if (value !== '') this.#cookies.push({ name, value, path });
  }
}

const parsed = ({ body }: Answer): unknown => JSON.parse(body.toString());

/** Where a redirect leads. */
export function locationOf({ head }: Answer): string {
  const location = headerOf(head, 'location');
  if (location === undefined) throw new Error('the redirect leads nowhere');
  return location;
}

/** Where the form of a page is sent to. */
export function formOf({ body }: Answer): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(body.toString())?.[1];
  if (action === undefined) throw new Error(`no form: ${body.toString().slice(0, 400)}`);
  return action.replaceAll('&amp;', '&');
}
