import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import {
  createAudience,
  createRequester,
  identifierOf,
  newPerson,
  secretOf,
} from '../support/audiences.js';
import { proceed } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';

afterAll(stopAll);

const redirectURI = 'https://app.example.test/callback';
const insecure = { [oauth.allowInsecureRequests]: true };

let service: TestService;
let tab: Tab;
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
  await createRequester(service, 'billing-api', []);
  await createAudience(service, 'billing');
  await createAudience(service, 'maps', { accessTokenFormat: 'JWT' });
  await createAudience(service, 'rooms', { accessTokenFormat: 'JWT', tokenSigningAlg: 'RS256' });
  await createRequester(service, 'shop', ['billing', 'maps', 'rooms']);
  tab = await newPerson(service, 'ada@example.test');
});

/** Sends Ada through an authorization request; returns where her browser came back to. */
const sent = ({ pathname, search }: URL): Promise<URL> => proceed(tab, pathname + search);

/** A request to a resource with an access token. */
const requestWith = (token: string): Request =>
  new Request('https://resource.example.test/', { headers: { authorization: `Bearer ${token}` } });

async function discovered(): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(service.baseURL);
  const response = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(issuer, response);
}

describe('openid-client', () => {
  const configured = () =>
    oidc.discovery(
      new URL(service.baseURL),
      'shop',
      undefined,
      oidc.ClientSecretBasic(secretOf('shop')),
      { execute: [oidc.allowInsecureRequests] },
    );

  test('gets a token for a resource by code and by refresh', async () => {
    const config = await configured();
    const checks = {
      pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      expectedState: oidc.randomState(),
    };
    const to = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectURI,
      scope: 'openid read offline_access',
      prompt: 'consent',
      resource: identifierOf('billing'),
      state: checks.expectedState,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    to.searchParams.append('resource', identifierOf('maps'));
    const resource = identifierOf('billing');
    const tokens = await oidc.authorizationCodeGrant(config, await sent(to), checks, { resource });
    const api = await oidc.discovery(
      new URL(service.baseURL),
      'billing-api',
      undefined,
      oidc.ClientSecretBasic(secretOf('billing-api')),
      { execute: [oidc.allowInsecureRequests] },
    );
    expect(await oidc.tokenIntrospection(api, tokens.access_token)).toMatchObject({
      active: true,
      aud: resource,
      scope: 'read',
      sub: tokens.claims()!.sub,
    });
    const other = await oidc.refreshTokenGrant(config, tokens.refresh_token!, {
      resource: identifierOf('maps'),
    });
    expect(await oidc.tokenIntrospection(api, tokens.access_token)).toMatchObject({ active: true });
    const { payload } = await jwtVerify(
      other.access_token,
      createRemoteJWKSet(new URL(`${service.baseURL}/oauth2/jwks`)),
      { issuer: service.baseURL, audience: identifierOf('maps'), typ: 'at+jwt' },
    );
    expect(payload).toMatchObject({ client_id: 'shop', scope: 'read', sub: tokens.claims()!.sub });
  });
});

describe('oauth4webapi', () => {
  /** The access token of Ada for one Audience. */
  async function tokenFor(audience: string): Promise<oauth.TokenEndpointResponse> {
    const server = await discovered();
    const client: oauth.Client = { client_id: 'shop' };
    const verifier = oauth.generateRandomCodeVerifier();
    const to = new URL(server.authorization_endpoint!);
    const query = {
      client_id: 'shop',
      response_type: 'code',
      redirect_uri: redirectURI,
      scope: 'openid read write',
      resource: identifierOf(audience),
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(secretOf('shop')),
      oauth.validateAuthResponse(server, client, await sent(to), oauth.expectNoState),
      redirectURI,
      verifier,
      { ...insecure, additionalParameters: { resource: identifierOf(audience) } },
    );
    return oauth.processAuthorizationCodeResponse(server, client, response);
  }

  test.each([
    ['maps', 'ES256'],
    ['rooms', 'RS256'],
  ])(
    'validates a token of %s, signed by %s, as RFC 9068 says, for it alone',
    async (audience, alg) => {
      const server = await discovered();
      const tokens = await tokenFor(audience);
      const claims = await oauth.validateJwtAccessToken(
        server,
        requestWith(tokens.access_token),
        identifierOf(audience),
        { ...insecure, signingAlgorithms: [alg] },
      );
      expect(claims).toMatchObject({
        iss: service.baseURL,
        aud: identifierOf(audience),
        client_id: 'shop',
        scope: 'read write',
        acr: 'urn:vestibule:acr:email',
        auth_time: expect.any(Number),
      });
      await expect(
        oauth.validateJwtAccessToken(
          server,
          requestWith(tokens.access_token),
          identifierOf('billing'),
          insecure,
        ),
      ).rejects.toThrow('unexpected JWT "aud"');
    },
  );

  test('an ID token is no access token', async () => {
    const tokens = await tokenFor('billing');
    await expect(
      oauth.validateJwtAccessToken(
        await discovered(),
        requestWith(tokens.id_token!),
        'shop',
        insecure,
      ),
    ).rejects.toThrow();
  });
});
