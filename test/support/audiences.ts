import { randomBytes } from 'node:crypto';
import { Audience, type AudienceSpec } from '../../kinds/apps/audience/audience.js';
import { Client } from '../../kinds/apps/client/client.js';
import { credentials } from '../provider/support/party.js';
import { authorizationPath, proceed, signIn } from './people/signin.js';
import type { Answer, Tab } from './people/tab.js';
import { repeated } from './repeats.js';
import { createClient, type TestService } from './service.js';

const form = 'application/x-www-form-urlencoded';

/** The secret of a Client of these tests. */
export const secretOf = (client: string): string => `the secret of ${client}`;

/** The identifier of an Audience of these tests. */
export const identifierOf = (audience: string): string => `https://${audience}.example.test`;

/** A request for both scopes and a refresh token. */
export const offline = {
  scope: 'openid read write offline_access',
  parameters: { prompt: 'consent' },
};

const scopeOf = (name: string): AudienceSpec['scopes'][number] => ({
  name,
  title: `May ${name}`,
  description: `What ${name} permits.`,
  sensitive: name === 'write',
});

/** Creates an Audience with the scopes read and write; its API may introspect if it is there. */
export async function createAudience(
  service: TestService,
  name: string,
  spec: Partial<AudienceSpec> = {},
): Promise<void> {
  const api = await service.store.reader(Client).get(`${name}-api`);
  await repeated(() =>
    service.store.change(service.store.systemCall(), (tx) =>
      tx.create(Audience, {
        metadata: { name },
        spec: {
          identifier: identifierOf(name),
          displayName: `The ${name}`,
          operatedBy: `The people of ${name}`,
          scopes: [scopeOf('read'), scopeOf('write')],
          introspectors: api ? [api.metadata.name] : [],
          ...spec,
        } as AudienceSpec,
      }),
    ),
  );
}

/** Creates a Confidential Client that may request Audiences. */
export const createRequester = (
  service: TestService,
  name: string,
  audiences: readonly string[],
  more: Parameters<typeof createClient>[2] = {},
): Promise<void> =>
  createClient(service, name, {
    ...credentials.basic(secretOf(name)).spec,
    grantTypes: ['authorization_code', 'refresh_token'],
    audiences: [...audiences],
    ...more,
  });

/** An authorization request for Audiences. */
export interface Wanted {
  readonly client?: string;
  readonly scope?: string;
  readonly audiences?: readonly string[];
  /** The resources, if they are not the identifiers of `audiences`. */
  readonly resources?: readonly string[];
  /** The scopes that the person agrees to; all by default. */
  readonly agree?: string[];
  readonly parameters?: Record<string, string>;
}

/** A code, or an error, of an authorization request. */
export interface Returned {
  readonly tab: Tab;
  readonly client: string;
  readonly callback: URL;
  readonly verifier: string;
}

/** The path of an authorization request for Audiences, and its verifier. */
export function pathFor({
  client = 'shop',
  scope = 'openid read',
  audiences = [],
  resources = audiences.map(identifierOf),
  parameters = {},
}: Wanted): { path: string; verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const named = resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('');
  return { path: authorizationPath(client, scope, verifier, parameters) + named, verifier };
}

/** Sends a person who is signed in through an authorization request. */
export async function visit(tab: Tab, wanted: Wanted): Promise<Returned> {
  const { path, verifier } = pathFor(wanted);
  const callback = await proceed(tab, path, wanted.agree);
  return { tab, client: wanted.client ?? 'shop', callback, verifier };
}

/** The credentials of a Client (RFC 6749 §2.3.1). */
const basic = (client: string): string => {
  const words = [client, secretOf(client)].map(encodeURIComponent).join(':');
  return `Basic ${Buffer.from(words).toString('base64')}`;
};

/** A request of a Client to an endpoint, with its secret. */
export const ask = (
  service: TestService,
  path: string,
  client: string,
  values: Record<string, string> | [string, string][],
): Promise<Answer> =>
  Promise.resolve(
    service.tab().send('POST', path, {
      plain: true,
      body: new URLSearchParams(values).toString(),
      headers: {
        'content-type': form,
        authorization: basic(client),
      },
    }),
  );

/** Redeems a code, for an Audience if it names one. */
export const redeem = (
  service: TestService,
  { client, callback, verifier }: Returned,
  resource?: string,
): Promise<Answer> =>
  ask(service, '/oauth2/token', client, {
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: 'https://app.example.test/callback',
    code_verifier: verifier,
    ...(resource !== undefined && { resource }),
  });

/** Refreshes tokens, for an Audience if it names one. */
export const refresh = (
  service: TestService,
  client: string,
  token: string,
  values: Record<string, string> = {},
): Promise<Answer> =>
  ask(service, '/oauth2/token', client, {
    grant_type: 'refresh_token',
    refresh_token: token,
    ...values,
  });

/** Introspects a token. */
export const introspect = async (
  service: TestService,
  client: string,
  token: string,
): Promise<any> => (await ask(service, '/oauth2/introspect', client, { token })).body;

/** A browser of a new person, signed in to another app. */
export const newPerson = async (service: TestService, address: string): Promise<Tab> =>
  (await signIn(service, address, { client: 'app' })).tab;
