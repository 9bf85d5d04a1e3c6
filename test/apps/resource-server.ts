import { secret } from '../docs/pages.js';
import type { Browser, Page } from './browser.js';
import type { Place } from './place.js';

/** An app that calls an API, and what it asks for. */
interface Caller {
  readonly client: string;
  readonly audience: string;
  readonly scope: string;
}

interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
}

/** Signs a person in at an app that calls an API, and returns its tokens. */
async function tokensOf(
  browser: Browser,
  { issuer, url }: Place,
  { client, audience, scope }: Caller,
): Promise<Tokens> {
  const redirect = `${url}/callback`;
  const query = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    redirect_uri: redirect,
    scope,
    resource: audience,
  });
  const back = await browser.open(`${issuer}/oauth2/auth?${query}`);
  const basic = Buffer.from(`${client}:${encodeURIComponent(secret)}`).toString('base64');
  const response = await fetch(`${issuer}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.url.searchParams.get('code') ?? `none: ${back.url.href}`,
      redirect_uri: redirect,
    }),
  });
  const tokens = (await response.json()) as Tokens;
  if (tokens.access_token) return tokens;
  throw new Error(JSON.stringify(tokens));
}

/**
 * Calls an API with a token of its own, and with others, which it must refuse; returns what it
 * answers to the good one.
 */
export async function callAPI(browser: Browser, place: Place, caller: Caller): Promise<Page> {
  const call = async (token: string): Promise<Page> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${place.url}/`, { headers });
    return { url: new URL(place.url), code: response.status, text: await response.text() };
  };
  const { access_token: good, id_token: other } = await tokensOf(browser, place, caller);
  for (const token of [other, `${good.slice(0, -8)}AAAAAAAA`]) {
    const { code, text } = await call(token);
    if (code !== 401) throw new Error(`it answers a wrong token with ${code} ${text}`);
  }
  return call(good);
}
