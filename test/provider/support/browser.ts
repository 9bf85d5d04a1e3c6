import { equal } from 'node:assert/strict';
import { seen } from '../../support/secrets.js';
import type { House } from './fixture.js';

/** A cookie as a browser keeps it. */
export interface Cookie {
  name: string;
  value: string;
  path: string;
  attributes: Record<string, string | true>;
}

/** What came back; redirects are for the test to follow. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  url: URL;
  location?: URL;
  cookies: Cookie[];
}

/** One browser: a cookie jar with paths, and a person at it. */
export class Browser {
  readonly jar = new Map<string, Cookie>();
  readonly house: House;
  /** Every Set-Cookie it was ever sent. */
  readonly sent: Cookie[] = [];
  readonly headers: Record<string, string> = {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    accept: 'text/html',
  };
  /** Which instance it talks to. */
  via: string;

  constructor(house: House) {
    this.house = house;
    this.via = house.address;
  }

  /** The Cookie header for a path. */
  cookieFor(path: string): string | undefined {
    const held = [...this.jar.values()].filter(
      (cookie) =>
        path === cookie.path ||
        path.startsWith(cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`),
    );
    held.sort((a, b) => b.path.length - a.path.length);
    return held.length > 0
      ? held.map((cookie) => `${cookie.name}=${cookie.value}`).join('; ')
      : undefined;
  }

  async request(target: string | URL, init: RequestInit = {}): Promise<Answer> {
    const url = new URL(target, this.house.baseURL);
    const local =
      url.origin === this.house.baseURL ? new URL(url.pathname + url.search, this.via) : url;
    const cookie = this.cookieFor(url.pathname);
    const response = await fetch(local, {
      ...init,
      redirect: 'manual',
      headers: {
        ...this.headers,
        ...(cookie && { cookie }),
        ...(init.headers as Record<string, string>),
      },
    });
    const cookies = response.headers.getSetCookie().map(parse);
    for (const set of cookies) this.#keep(set);
    const location = response.headers.get('location');
    seen.note({
      headers: { 'set-cookie': response.headers.getSetCookie(), ...(location && { location }) },
      body: undefined,
    });
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      url,
      cookies,
      ...(location && { location: new URL(location, url) }),
    };
  }

  post(target: string | URL, fields: Record<string, string>): Promise<Answer> {
    return this.request(target, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  }

  /** Follows redirects until something is shown. */
  async go(target: string | URL): Promise<Answer> {
    let answer = await this.request(target);
    for (let hops = 0; answer.location && hops < 10; hops += 1) {
      equal(answer.status, 303, 'every redirect is 303');
      if (answer.location.pathname === '/cb') return answer;
      answer = await this.request(answer.location);
    }
    return answer;
  }

  /**
   * Goes to an authorization address and on, signing in and agreeing as asked, until it is back at
   * the Client.
   */
  async authorize(
    target: string | URL,
    person: { account?: string; method?: string; scopes?: string[]; cancel?: boolean } = {},
  ): Promise<Answer> {
    let answer = await this.go(target);
    for (let steps = 0; steps < 4; steps += 1) {
      const name = /^\/api\/v1beta1\/interactions\/([a-z2-7]{32})$/.exec(answer.url.pathname)?.[1];
      if (answer.location || !name) return answer;
      const { returnTo } = await this.act(name, person);
      answer = await this.go(returnTo);
    }
    return answer;
  }

  /** Does on the page of an interaction what its phase asks for. */
  async act(
    name: string,
    person: { account?: string; method?: string; scopes?: string[]; cancel?: boolean } = {},
  ): Promise<{ returnTo: string; status: { phase: string }; [field: string]: any }> {
    const path = `/api/v1beta1/interactions/${name}`;
    const seen = JSON.parse((await this.request(`${path}/look`)).text) as {
      status: { phase: string };
      spec: { scopes: string[] };
    };
    const query = new URLSearchParams();
    if (person.account) query.set('account', person.account);
    if (person.method) query.set('method', person.method);
    for (const scope of person.scopes ?? seen.spec.scopes) query.append('scope', scope);
    const due = seen.status.phase === 'LoginRequired' ? 'login' : 'consent';
    const action = person.cancel ? 'cancel' : due;
    const answer = await this.request(`${path}/${action}?${query}`);
    if (answer.status !== 200) throw new Error(answer.text);
    return JSON.parse(answer.text);
  }

  #keep(set: Cookie): void {
    this.sent.push(set);
    const key = `${set.name} ${set.path}`;
    const expires = set.attributes.expires;
    if (set.value === '' || (typeof expires === 'string' && Date.parse(expires) <= Date.now())) {
      this.jar.delete(key);
    } else {
      this.jar.set(key, set);
    }
  }
}

function parse(line: string): Cookie {
  const [pair, ...rest] = line.split(';').map((part) => part.trim());
  const equals = pair!.indexOf('=');
  const attributes = Object.fromEntries(
    rest.map((part): [string, string | true] => {
      const [name, value] = part.split(/=(.*)/s) as [string, string | undefined];
      return [name.toLowerCase(), value ?? true];
    }),
  );
  return {
    name: pair!.slice(0, equals),
    value: pair!.slice(equals + 1),
    path: String(attributes.path ?? '/'),
    attributes,
  };
}
