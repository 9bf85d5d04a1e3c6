import { mailTo } from '../support/people/signin.js';
import { type Answer, exchange } from '../support/people/tab.js';
import type { TestService } from '../support/service.js';

/** A page that a browser shows, and where it is. */
export interface Page {
  readonly url: URL;
  readonly code: number;
  readonly text: string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const interaction = /^\/api\/v1beta1\/interactions\/[a-z2-7]{32}$/;

/**
 * A browser of a person at localhost: one cookie jar for all ports, as browsers have, and redirects
 * of any kind followed. At the service it signs in by emailed code and agrees to all scopes.
 */
export class Browser {
  readonly #service: TestService;
  readonly #email: string;
  #cookies: Cookie[] = [];

  constructor(service: TestService, email: string) {
    this.#service = service;
    this.#email = email;
  }

  /**
   * Goes to an address and on to the page where it ends, through the sign-in of the service. A
   * redirect to another host is not followed.
   */
  async open(address: string | URL): Promise<Page> {
    return this.#follow(new URL(address), await this.#navigate(new URL(address)));
  }

  /** Sends the form of a page whose action matches, with its hidden fields. */
  async submit(page: Page, action: RegExp): Promise<Page> {
    for (const [, attributes, inner] of page.text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)) {
      const to = attribute(attributes!, 'action') ?? page.url.href;
      if (!action.test(to)) continue;
      const fields = [...inner!.matchAll(/<input\b([^>]*)>/gi)]
        .filter(([, input]) => attribute(input!, 'type') === 'hidden')
        .map(([, input]) => [attribute(input!, 'name') ?? '', attribute(input!, 'value') ?? '']);
      const url = new URL(to, page.url);
      return this.#follow(url, await this.#navigate(url, new URLSearchParams(fields), page.url));
    }
    throw new Error(`no form for ${action} at ${page.url.href}: ${page.text.slice(0, 600)}`);
  }

  async #follow(from: URL, first: Answer): Promise<Page> {
    let [url, answer] = [from, first];
    for (let hops = 0; hops < 20; hops += 1) {
      const { location } = answer.headers;
      let next = answer.code >= 300 && answer.code < 400 ? location : undefined;
      if (next !== undefined && this.#isInteraction(new URL(next, url))) {
        next = await this.#answer(new URL(next, url));
      }
      if (next === undefined) return { url, code: answer.code, text: answer.bytes.toString() };
      url = new URL(next, url);
      if (url.hostname !== 'localhost') return { url, code: answer.code, text: '' };
      answer = await this.#navigate(url);
    }
    throw new Error(`twenty redirects, the last to ${url.href}`);
  }

  #isInteraction({ origin, pathname }: URL): boolean {
    return origin === new URL(this.#service.baseURL).origin && interaction.test(pathname);
  }

  /** Does what the page of an interaction does for a person; returns where it leads. */
  async #answer(url: URL): Promise<string> {
    const { body } = await this.#call(url, 'GET');
    if (body.status.phase === 'ConsentRequired') {
      const scopes = body.status.consent.scopes
        .filter((scope: { allowed: boolean }) => scope.allowed)
        .map((scope: { name: string }) => scope.name);
      const agreed = await this.#call(new URL(`${url.href}/consent`), 'POST', { scopes });
      return agreed.body.status.returnTo;
    }
    await this.#call(new URL(`${url.href}/emailchallenge`), 'POST', { email: this.#email });
    const { code } = await mailTo(this.#service, this.#email, [], ({ code }) => code !== undefined);
    await this.#service.tab().delete('mockmessages').is(200);
    const spec = { method: 'EmailCode', code };
    const signedIn = await this.#call(new URL(`${url.href}/login`), 'POST', spec);
    return signedIn.body.status.returnTo;
  }

  async #call(url: URL, method: string, spec?: object): Promise<Answer> {
    const answer = await this.#send(url, method, spec && JSON.stringify({ spec }), {
      accept: 'application/json',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      ...(spec && { origin: url.origin, 'content-type': 'application/json' }),
    });
    if (answer.code === 200) return answer;
    throw new Error(`${method} ${url.href}: ${answer.code} ${answer.bytes.toString()}`);
  }

  #navigate(url: URL, fields?: URLSearchParams, from?: URL): Promise<Answer> {
    return this.#send(url, fields ? 'POST' : 'GET', fields?.toString(), {
      accept: 'text/html,*/*;q=0.8',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-site': from ? 'same-origin' : 'none',
      ...(from && { origin: from.origin, referer: from.href }),
      ...(fields && { 'content-type': 'application/x-www-form-urlencoded' }),
    });
  }

  async #send(
    url: URL,
    method: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const cookie = this.#cookies
      .filter(({ path }) => covers(path, url.pathname))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const target = url.pathname + url.search;
    const sent = { ...headers, ...(cookie && { cookie }) };
    const answer = await exchange(url.origin, method, target, sent, body);
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line, url);
    return answer;
  }

  #keep(line: string, url: URL): void {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim()) as [
      string,
      ...string[],
    ];
    const of = (name: string): string | undefined =>
      attributes
        .find((attribute) => attribute.toLowerCase().startsWith(`${name}=`))
        ?.split(/=(.*)/s)[1];
    const [name, value] = pair.split(/=(.*)/s) as [string, string];
    const path = of('path') ?? (url.pathname.replace(/\/[^/]*$/, '') || '/');
    const expires = of('expires');
    const isOver =
      of('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= Date.now());
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    if (!isOver) this.#cookies.push({ name, value, path });
    // Those of longer paths come first (RFC 6265 5.4).
    this.#cookies.sort((cookie, other) => other.path.length - cookie.path.length);
  }
}

const covers = (path: string, asked: string): boolean =>
  asked === path || asked.startsWith(path.endsWith('/') ? path : `${path}/`);

const entities: Record<string, string> = { amp: '&', quot: '"', lt: '<', gt: '>', '#x27': "'" };

/** The value of an attribute of a tag, without the entities that forms have. */
function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag);
  const text = found?.[1] ?? found?.[2];
  return text?.replaceAll(/&(#?\w+);/g, (whole, entity: string) => entities[entity] ?? whole);
}
