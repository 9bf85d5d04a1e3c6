import { createHash, randomBytes } from 'node:crypto';
import { Browser, type Cookie, locationOf } from './browser.js';
import { type Connection, requestBytes } from './connection.js';
import type { Mailbox } from './mailbox.js';

/** The Client of every sign-in, on both sides. */
export const client = {
  name: 'bench',
  redirectURI: 'https://app.example.test/callback',
  scope: 'openid email',
};

const cookieless = {
  'Content-Type': 'application/x-www-form-urlencoded',
  Accept: 'application/json',
};

/** An authorization request and what redeems its code. */
export function authorization(
  path: string,
  parameters: Readonly<Record<string, string>>,
): { target: string; verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: client.name,
    response_type: 'code',
    scope: client.scope,
    redirect_uri: client.redirectURI,
    state: 'state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  });
  return { target: `${path}?${query}`, verifier };
}

/** An ID token and what it says. */
export interface Tokens {
  readonly idToken: string;
  readonly claims: Record<string, unknown>;
}

/** Redeems the code that a redirect brought; throws unless an ID token comes back. */
export async function redeem(
  connection: Connection,
  origin: string,
  path: string,
  callback: string,
  verifier: string,
): Promise<Tokens> {
  const code = new URL(callback).searchParams.get('code');
  if (!code) throw new Error(`the sign-in ended at ${callback}`);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectURI,
    client_id: client.name,
    code_verifier: verifier,
  }).toString();
  const answer = await connection.exchange(
    requestBytes('POST', path, { Host: new URL(origin).host, ...cookieless }, body),
  );
  if (answer.code !== 200) {
    throw new Error(
      `the token endpoint answered ${answer.code}: ${answer.body.toString().slice(0, 400)}`,
    );
  }
  const { id_token: token } = JSON.parse(answer.body.toString()) as { id_token: string };
  return {
    idToken: token,
    claims: JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()),
  };
}

/**
 * A sign-in by emailed code from authorization request to tokens, every page and exchange a browser
 * makes; the browser, which begins with `cookies`, and the claims.
 */
export async function signIn(
  on: {
    connection: Connection;
    origin: string;
    mailbox: Mailbox;
    cookies?: readonly Cookie[] | undefined;
  },
  address: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Tokens & { browser: Browser }> {
  const browser = new Browser(on.connection, on.origin, on.cookies);
  const { target, verifier } = authorization('/oauth2/auth', parameters);
  const I = await openPage(browser, locationOf(await browser.navigate(target, 303)));
  await browser.post(`${I}/emailchallenge`, { spec: { email: address } });
  const { status } = await browser.post(`${I}/login`, {
    spec: { method: 'EmailCode', code: await on.mailbox.codeFor(address) },
  });
  const next = locationOf(await browser.navigate(status.returnTo, 303));
  const callback = next.startsWith('/api/') ? await agree(browser, next) : next;
  const tokens = await redeem(on.connection, on.origin, '/oauth2/token', callback, verifier);
  const { claims } = tokens;
  if (status.account.email !== address || claims.sub !== status.account.name) {
    throw new Error(
      `signed in as ${String(claims.sub)}, ${status.account.email}, in place of ${address}`,
    );
  }
  return { ...tokens, browser };
}

/** The page of an interaction and the fetch it begins with; answers the interaction's path. */
async function openPage(browser: Browser, I: string): Promise<string> {
  await browser.navigate(locationOf(await browser.navigate(I, 303)), 200);
  await browser.fetch(I);
  return I;
}

async function agree(browser: Browser, target: string): Promise<string> {
  const I = await openPage(browser, target);
  const { status } = await browser.post(`${I}/consent`, {
    spec: { scopes: client.scope.split(' ') },
  });
  return locationOf(await browser.navigate(status.returnTo, 303));
}
