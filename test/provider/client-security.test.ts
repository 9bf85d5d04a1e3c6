import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { expectFor } from '../support/expect-for.js';
import { newAssertionKey } from '../support/people/assertion-key.js';
import { Browser } from './support/browser.js';
import { House } from './support/fixture.js';
import { outcome, RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

/** An authorization request without a code challenge. */
const without = ({ url }: { url: URL }): URL => {
  const bare = new URL(url);
  for (const name of ['code_challenge', 'code_challenge_method']) bare.searchParams.delete(name);
  return bare;
};

const redeem = async (
  client: string,
  fields: Record<string, string>,
): Promise<{ error?: string; id_token?: string }> => {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    redirect_uri: 'https://rp.example.test/cb',
    ...fields,
  });
  const headers = {
    accept: 'application/json',
    authorization: `Basic ${btoa(`${client}:secret-of-${client}`)}`,
  };
  return (await (
    await fetch(`${house.address}/oauth2/token`, { method: 'POST', body, headers })
  ).json()) as { error?: string; id_token?: string };
};

describe('PKCE', () => {
  test('is demanded of a Public Client, and of one whose spec says Required', async () => {
    await house.client('spa', { type: 'Public' });
    await house.client('strict', { pkce: 'Required' });
    await house.client('lenient');
    const account = (await house.account()).metadata.name;
    for (const name of ['spa', 'strict']) {
      const refused = await new Browser(house).go(
        without(await (await RelyingParty.of(house, name)).begin()),
      );
      expect(refused.location?.searchParams.get('error')).toBe('invalid_request');
    }
    const back = await new Browser(house).authorize(
      without(await (await RelyingParty.of(house, 'lenient')).begin()),
      { account },
    );
    expect(
      await redeem('lenient', { code: back.location!.searchParams.get('code')! }),
    ).toHaveProperty('id_token');
  });

  test('once begun is not talked down', async () => {
    await house.client('downgraded');
    const rp = await RelyingParty.of(house, 'downgraded');
    const account = (await house.account()).metadata.name;
    const code = async (url: URL): Promise<string> =>
      (await new Browser(house).authorize(url, { account })).location!.searchParams.get('code')!;
    const begun = await rp.begin();
    expect(await redeem('downgraded', { code: await code(begun.url) })).toMatchObject({
      error: 'invalid_grant',
    });
    expect(
      await redeem('downgraded', { code: await code(begun.url), code_verifier: '' }),
    ).toHaveProperty('error');
    expect(
      await redeem('downgraded', {
        code: await code(without(begun)),
        code_verifier: begun.verifier,
      }),
    ).toMatchObject({ error: 'invalid_grant' });
    expect(
      await redeem('downgraded', { code: await code(begun.url), code_verifier: begun.verifier }),
    ).toHaveProperty('id_token');
  });
});

describe('a Client without a profile', () => {
  test('that takes pushed requests only is asked in no other way', async () => {
    await house.client('pushes', { requirePushedAuthorizationRequests: true });
    const rp = await RelyingParty.of(house, 'pushes');
    const account = (await house.account()).metadata.name;
    const begun = await rp.begin();
    const plain = await new Browser(house).go(begun.url);
    expect(plain.location?.searchParams.get('error')).toBe('invalid_request');
    const back = await new Browser(house).authorize(
      await oidc.buildAuthorizationUrlWithPAR(rp.config, begun.url.searchParams),
      { account },
    );
    expect(await rp.redeem(back.location!, begun)).toHaveProperty('id_token');
  });

  test('whose tokens are DPoP-bound gets none without a proof', async () => {
    await house.client('proves', { dpopBoundAccessTokens: true });
    const rp = await RelyingParty.of(house, 'proves');
    const account = (await house.account()).metadata.name;
    const code = async () => {
      const begun = await rp.begin();
      const back = await new Browser(house).authorize(begun.url, { account });
      return [back.location!, begun] as const;
    };
    expect((await outcome(rp.redeem(...(await code())))).error).toBe('invalid_grant');
    const { dpop_signing_alg_values_supported: algorithms } = rp.config.serverMetadata();
    for (const alg of algorithms!.filter((algorithm) => algorithm !== 'EdDSA')) {
      const DPoP = oidc.getDPoPHandle(rp.config, await oidc.randomDPoPKeyPair(alg));
      const { token_type: type } = await rp.redeem(...(await code()), { DPoP });
      expectFor(alg, type).toEqual('dpop');
    }
  });
});

describe('the audience of a client assertion', () => {
  const { privateKey, authentication } = newAssertionKey();
  const asked = async (
    client: string,
    endpoint: string,
    aud: unknown,
    more: Record<string, string> = {},
  ): Promise<string> => {
    const assertion = new jose.SignJWT({ aud } as jose.JWTPayload)
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(client)
      .setSubject(client)
      .setJti(crypto.randomUUID())
      .setExpirationTime('1m');
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: 'none',
      token: 'none',
      redirect_uri: 'https://rp.example.test/cb',
      response_type: 'code',
      scope: 'openid',
      client_id: client,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertion.sign(privateKey),
      ...more,
    });
    const answer = await fetch(`${house.address}/oauth2/${endpoint}`, { method: 'POST', body });
    return ((await answer.json()) as { error?: string }).error ?? 'none';
  };

  test('is accepted of a Client with the profile FAPI2, which must send a challenge', async () => {
    await house.client('challenged', {
      jwks: authentication.jwks,
      secretHashes: [],
      profile: 'FAPI2',
    });
    const code_challenge = 'c'.repeat(43);
    for (const [more, error] of [
      [{}, 'invalid_request'],
      [{ code_challenge }, 'invalid_request'], // by plain
      [{ code_challenge, code_challenge_method: 'S256' }, 'none'],
    ] as const) {
      expectFor(more, await asked('challenged', 'par', house.baseURL, more)).toEqual(error);
    }
  });

  test('is the issuer, as one string; a Client may be permitted the endpoint as well', async () => {
    const issuer = house.baseURL;
    await house.client('strict-audience', authentication);
    await house.client('lax-audience', {
      ...authentication,
      clientAssertionAudience: 'TokenEndpoint',
    });
    const at = (path: string): string => `${issuer}/oauth2/${path}`;
    const table: [endpoint: string, aud: unknown, strict: boolean, lax: boolean][] = [
      ['token', issuer, true, true],
      ['token', at('token'), false, true],
      ['token', [issuer], false, false],
      ['token', [at('token')], false, false],
      ['token', [issuer, at('token')], false, false],
      ['token', at('par'), false, false],
      ['token', 'https://evil.test', false, false],
      ['par', issuer, true, true],
      ['par', at('par'), false, true],
      ['par', at('token'), false, true],
      ['par', [at('par')], false, false],
      ['introspect', at('token'), false, true],
      ['introspect', at('introspect'), false, true],
    ];
    for (const [endpoint, aud, strict, lax] of table) {
      for (const [client, passes] of [
        ['strict-audience', strict],
        ['lax-audience', lax],
      ] as const) {
        expectFor([endpoint, aud, client], await asked(client, endpoint, aud)).toEqual(
          passes ? expect.not.stringMatching('invalid_client') : 'invalid_client',
        );
      }
    }
  });
});

describe('a Client of profile FAPI2', () => {
  const { privateKey, authentication } = newAssertionKey();

  /** As the API stores it. */
  const fapi = (name: string) =>
    house.client(name, {
      ...authentication,
      profile: 'FAPI2',
      tokenEndpointAuthSigningAlg: 'ES256',
      requirePushedAuthorizationRequests: true,
      dpopBoundAccessTokens: true,
    });
  const party = async (name: string): Promise<RelyingParty> => {
    const key = await crypto.subtle.importKey(
      'pkcs8',
      privateKey.export({ format: 'der', type: 'pkcs8' }),
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign'],
    );
    const auth = oidc.PrivateKeyJwt(
      { key, kid: 'one' },
      {
        [oidc.modifyAssertion]: (_header, payload) => {
          payload.aud = house.baseURL;
        },
      },
    );
    return RelyingParty.of(house, name, { auth });
  };

  test('signs people in by pushed requests, signed assertions and DPoP only', async () => {
    await fapi('bank');
    const rp = await party('bank');
    const account = (await house.account()).metadata.name;
    const plain = await new Browser(house).go((await rp.begin()).url);
    expect(plain.location?.searchParams.get('error')).toBe('invalid_request');
    const DPoP = oidc.getDPoPHandle(rp.config, await oidc.randomDPoPKeyPair('ES256'));
    const begun = await rp.begin();
    const pushed = await oidc.buildAuthorizationUrlWithPAR(rp.config, begun.url.searchParams, {
      DPoP,
    });
    const back = await new Browser(house).authorize(pushed, { account });
    const tokens = await rp.redeem(back.location!, begun, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    const again = await rp.begin();
    const other = await new Browser(house).authorize(
      await oidc.buildAuthorizationUrlWithPAR(rp.config, again.url.searchParams),
      { account },
    );
    expect((await outcome(rp.redeem(other.location!, again))).error).toBe('invalid_grant');
  });

  test('is known by assertions of its one algorithm', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await house.client('one-alg', {
      tokenEndpointAuthMethod: 'private_key_jwt',
      tokenEndpointAuthSigningAlg: 'PS256',
      secretHashes: [],
      jwks: {
        keys: [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'r' } as Record<string, string>],
      },
    });
    const asked = async (alg: string): Promise<string> => {
      const jwt = await new jose.SignJWT({})
        .setProtectedHeader({ alg, kid: 'r' })
        .setIssuer('one-alg')
        .setSubject('one-alg')
        .setAudience(house.baseURL)
        .setJti(oidc.randomState())
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(rsa.privateKey);
      const body = new URLSearchParams({
        client_assertion: jwt,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        grant_type: 'refresh_token',
        refresh_token: 'x',
      });
      return (
        (await (await fetch(`${house.address}/oauth2/token`, { method: 'POST', body })).json()) as {
          error: string;
        }
      ).error;
    };
    expect(await asked('PS256')).toBe('invalid_grant');
    expect(await asked('RS256')).toBe('invalid_client');
  });
});
