import { createHash, randomBytes } from 'node:crypto';
import type { Tab } from './tab.js';

/** A service as browsers reach it. */
export interface Reached {
  tab(): Tab;
}

/** A sign-in as a browser begins it. */
export interface Begun {
  readonly tab: Tab;
  readonly I: string;
  readonly name: string;
  readonly verifier: string;
  readonly client: string;
}

/** Sends a browser to the authorization endpoint and to the interaction it leads to. */
export async function begin(
  service: Reached,
  options: { tab?: Tab; client?: string; scope?: string; parameters?: Record<string, string> } = {},
): Promise<Begun> {
  const { tab = service.tab(), client = 'app', scope = 'openid email', parameters = {} } = options;
  const verifier = randomBytes(32).toString('base64url');
  const { headers } = await tab
    .navigate(authorizationPath(client, scope, verifier, parameters))
    .is(303);
  const I = headers.location!;
  return { tab, I, name: I.split('/').at(-1)!, verifier, client };
}

/** The path of an authorization request with PKCE. */
export function authorizationPath(
  client: string,
  scope: string,
  verifier: string,
  parameters: Record<string, string> = {},
): string {
  const query = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    scope,
    redirect_uri: 'https://app.example.test/callback',
    state: 'state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  });
  return `/oauth2/auth?${query}`;
}

/** Whether a mail is not the notice of a sign-in from a new browser, which comes beside others. */
export const isNoNotice = ({ subject }: { subject: string }): boolean =>
  !subject.startsWith('A new sign-in');

/**
 * The newest mail to an address, once there is one that `not` lists not and that is wanted: any but
 * notices of new browsers.
 */
export async function mailTo(
  service: Reached,
  address: string,
  not: readonly string[] = [],
  wanted: (status: { code?: string; subject: string }) => boolean = isNoNotice,
): Promise<{
  name: string;
  code: string;
  link: string;
  token: string;
  text: string;
  html: string;
  subject: string;
}> {
  for (let i = 0; i < 6_000; i += 1) {
    const { body } = await service.tab().get('mockmessages').is(200);
    const found = (body.items as any[])
      .filter(
        ({ metadata, status }) =>
          status.to.toLowerCase() === address.toLowerCase() &&
          !not.includes(metadata.name) &&
          wanted(status),
      )
      .sort((a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion))[0];
    if (found) {
      return {
        name: found.metadata.name,
        ...found.status,
        token: found.status.link?.split('#token=')[1],
      };
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  throw new Error(`no mail to ${address}`);
}

/** A code that is not this one. */
export const wrong = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

/**
 * Signs in by emailed code and, where it is asked for, agrees to `agree` (all scopes by default);
 * the parameters of the redirect back.
 */
export async function signIn(
  service: Reached,
  address: string,
  options: Parameters<typeof begin>[1] & { agree?: string[] } = {},
): Promise<Begun & { callback: URL }> {
  const begun = await begin(service, options);
  const { tab, I } = begun;
  await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { code } = await mailTo(service, address, [], (status) => status.code !== undefined);
  await service.tab().delete('mockmessages').is(200);
  const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
  return { ...begun, callback: await proceed(tab, body.status.returnTo, options.agree) };
}

/** Follows returnTo to the Client, agreeing on the way where consent is asked. */
export async function proceed(tab: Tab, returnTo: string, agree?: string[]): Promise<URL> {
  const { headers } = await tab.navigate(returnTo).is(303);
  const to = headers.location!;
  if (!to.startsWith('/api/')) return new URL(to);
  const { body } = await tab.get(to).is(200);
  const scopes =
    agree ??
    body.status.consent.scopes
      .filter((scope: any) => scope.allowed)
      .map((scope: any) => scope.name);
  const agreed = await tab.post(`${to}/consent`, { spec: { scopes } }).is(200);
  const back = await tab.navigate(agreed.body.status.returnTo).is(303);
  return new URL(back.headers.location!);
}

/** Redeems the code of a finished sign-in. */
export async function redeem(
  service: Reached,
  { callback, verifier, client }: { callback: URL; verifier: string; client: string },
): Promise<{ code: number; body: any }> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code')!,
    redirect_uri: 'https://app.example.test/callback',
    client_id: client,
    code_verifier: verifier,
  }).toString();
  return service.tab().send('POST', '/oauth2/token', {
    plain: true,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}
