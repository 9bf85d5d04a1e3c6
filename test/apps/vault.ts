import { randomUUID } from 'node:crypto';
import { settles } from '../support/patience.js';
import type { Browser, Page } from './browser.js';
import { goTool } from './packages.js';
import type { Command, Place } from './place.js';

/** Starts Vault, in memory and without its pages, and runs the commands of its template. */
export async function vault({ url, port }: Place): Promise<Command> {
  const built = await goTool('vault', 'github.com/hashicorp/vault', { tags: 'minimal' });
  const token = randomUUID();
  const script = [
    'set -e',
    `vault server -dev -dev-no-store-token -dev-listen-address=127.0.0.1:${port} &`,
    "trap 'kill $!' EXIT",
    'until vault status > status.log; do sleep 0.1; done',
    '. ./settings',
    'wait',
  ];
  const environment = {
    PATH: `${built}:${process.env.PATH}`,
    VAULT_ADDR: url,
    VAULT_TOKEN: token,
    VAULT_DEV_ROOT_TOKEN_ID: token,
  };
  return { program: 'bash', args: ['-c', script.join('\n')], environment };
}

/**
 * Signs a person in at Vault as its pages do: they ask it for an address, and give it the code that
 * comes back to theirs. Returns what Vault knows of the token that the person gets.
 */
export async function signInToVault(browser: Browser, { url }: Place): Promise<Page> {
  const call = async (path: string, init?: RequestInit): Promise<Page> => {
    const response = await fetch(`${url}/v1/auth/${path}`, init);
    return { url: new URL(response.url), code: response.status, text: await response.text() };
  };
  const redirect = `${url}/ui/vault/auth/oidc/oidc/callback`;
  const nonce = randomUUID();
  const asked = { redirect_uri: redirect, client_nonce: nonce };
  // It refuses until all commands of the template were run.
  const { text } = await settles(
    () => call('oidc/oidc/auth_url', { method: 'POST', body: JSON.stringify(asked) }),
    ({ code }) => code === 200,
  );
  const back = await browser.open(JSON.parse(text).data.auth_url);
  if (!back.url.href.startsWith(`${redirect}?`)) return back;
  const answer = new URLSearchParams(back.url.searchParams);
  answer.set('client_nonce', nonce);
  const signedIn = await call(`oidc/oidc/callback?${answer}`);
  if (signedIn.code !== 200) return signedIn;
  const token = JSON.parse(signedIn.text).auth.client_token;
  return call('token/lookup-self', { headers: { 'x-vault-token': token } });
}
