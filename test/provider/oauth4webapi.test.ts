import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { getValidatedIdTokenClaims, type TokenEndpointResponse } from 'oauth4webapi';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { clock } from '../support/clock.js';
import type { Tab } from '../support/people/tab.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { until } from './support/fixture.js';
import { type Credentials, credentials, errorOf, Party } from './support/party.js';

const sorts: {
  name: string;
  how: () => Credentials | Promise<Credentials>;
  alg: 'ES256' | 'RS256';
  confidential: boolean;
}[] = [
  { name: 'public-es', how: credentials.none, alg: 'ES256', confidential: false },
  { name: 'public-rs', how: credentials.none, alg: 'RS256', confidential: false },
  {
    name: 'basic-rs',
    how: () => credentials.basic('a secret: with/odd+characters %'),
    alg: 'RS256',
    confidential: true,
  },
  {
    name: 'post-es',
    how: () => credentials.post('another-secret'),
    alg: 'ES256',
    confidential: true,
  },
  { name: 'key-es', how: credentials.key, alg: 'ES256', confidential: true },
];

const offline = { prompt: 'consent' };
const all = 'openid email profile offline_access';

describe.each(sorts)(
  'a Client made with oauth4webapi ($name)',
  ({ name, how, alg, confidential }) => {
    let service: TestService;
    let party: Party;
    let listener: Listener;
    let number = 0;
    const person = (): string => `${name}-${(number += 1)}@example.test`;
    beforeAll(async () => {
      service = await startTest({ flags: ['--limit-factor', '1000'] });
      listener = await listen();
      const more: Partial<ClientSpec> = {
        idTokenSignedResponseAlg: alg,
        backchannelLogoutURI: listener.url,
      };
      party = await Party.of(service, name, await how(), more);
    });
    afterAll(async () => {
      listener.close();
      await stopAll();
    });

    const subjectOf = (tokens: TokenEndpointResponse): string =>
      getValidatedIdTokenClaims(tokens)!.sub;

    test('signs people in with code and PKCE, and verifies the ID token', async () => {
      const address = person();
      const tokens = await party.signIn(service.tab(), address);
      expect(decodeProtectedHeader(tokens.id_token!)).toMatchObject({
        alg,
        kid: expect.any(String),
      });
      expect(getValidatedIdTokenClaims(tokens)).toMatchObject({
        iss: service.baseURL,
        aud: name,
        acr: 'urn:vestibule:acr:email',
        amr: ['otp'],
        auth_time: expect.any(Number),
        sid: expect.any(String),
      });
      expect(await party.userinfo(tokens.access_token, subjectOf(tokens))).toEqual({
        sub: subjectOf(tokens),
        email: address,
        email_verified: true,
      });
    });

    test('refreshes: a Public Client’s token rotates, and a second use ends them all', async () => {
      const first = await party.signIn(service.tab(), person(), all, offline);
      const second = await party.refresh(first.refresh_token!);
      expect(await party.userinfo(second.access_token, subjectOf(first))).toMatchObject({
        sub: subjectOf(first),
      });
      if (confidential) {
        expect(second.refresh_token).toBe(first.refresh_token);
        expect((await party.refresh(first.refresh_token!)).access_token).toBeTruthy();
        return;
      }
      expect(second.refresh_token).not.toBe(first.refresh_token);
      clock.own();
      clock.advance(31_000);
      expect(await errorOf(party.refresh(first.refresh_token!))).toBe('invalid_grant');
      expect(await errorOf(party.refresh(second.refresh_token!))).toBe('invalid_grant');
      expect(await errorOf(party.userinfo(second.access_token, subjectOf(first)))).toBe(
        'invalid_token',
      );
      clock.release();
    });

    test.each(['access_token', 'refresh_token'] as const)(
      'revokes: with its %s goes all that came with it, but not the consent',
      async (which) => {
        const tab = service.tab();
        const tokens = await party.signIn(tab, person(), all, offline);
        await party.revoke(tokens[which]!);
        expect(await errorOf(party.userinfo(tokens.access_token, subjectOf(tokens)))).toBe(
          'invalid_token',
        );
        expect(await errorOf(party.refresh(tokens.refresh_token!))).toBe('invalid_grant');
        await party.revoke(tokens[which]!);
        await party.revoke('of-nobody');
        const { headers } = await tab
          .navigate(
            `${(await party.request('openid email')).url.href.slice(service.baseURL.length)}`,
          )
          .is(303);
        expect(headers.location).toMatch(/^https:\/\/app.example.test\/callback\?code=/);
      },
    );

    test('introspects its own tokens where it can keep a secret', async () => {
      const tokens = await party.signIn(service.tab(), person(), all, offline);
      if (!confidential) {
        return expect(await party.introspect(tokens.access_token)).toEqual({ active: false });
      }
      expect(await party.introspect(tokens.access_token)).toMatchObject({
        active: true,
        client_id: name,
        scope: expect.stringContaining('email'),
        sub: subjectOf(tokens),
      });
      expect(await party.introspect(tokens.refresh_token!)).toMatchObject({
        active: true,
        client_id: name,
      });
      const other = await Party.of(service, `${name}-other`, credentials.basic('of-the-other'));
      expect(await other.introspect(tokens.access_token)).toEqual({ active: false });
      await party.revoke(tokens.refresh_token!);
      expect(await party.introspect(tokens.access_token)).toEqual({ active: false });
    });

    test('a code used twice is refused, and ends what the first use was given', async () => {
      const request = await party.request(all, offline);
      const back = await party.send(service.tab(), request, person());
      const tokens = await party.redeem(back, request);
      expect(await errorOf(party.redeem(back, request))).toBe('invalid_grant');
      expect(await errorOf(party.userinfo(tokens.access_token, subjectOf(tokens)))).toBe(
        'invalid_token',
      );
      expect(await errorOf(party.refresh(tokens.refresh_token!))).toBe('invalid_grant');
    });

    test('signs people out: they are asked and sent back, and the Client is notified', async () => {
      const tab = service.tab();
      const tokens = await party.signIn(tab, person());
      const { sub, sid } = getValidatedIdTokenClaims(tokens)!;
      const back = await signOut(tab, party, tokens.id_token!);
      expect(back).toBe('https://app.example.test/bye?state=the-state');
      await tab.get('accounts/~').fails(401, 'Unauthorized');
      expect(await errorOf(party.userinfo(tokens.access_token, sub))).toBe('invalid_token');
      await heard(listener, party, { sub, sid });
    });

    test('is also notified when the owner ends the session', async () => {
      const tab = service.tab();
      const tokens = await party.signIn(tab, person(), all, offline);
      const { sub, sid } = getValidatedIdTokenClaims(tokens)!;
      const { body } = await tab.delete('sessions/~').is(200);
      expect(body.status.signOut.clients).toEqual([{ name, state: 'Retrying' }]);
      await heard(listener, party, { sub, sid });
      expect((await party.refresh(tokens.refresh_token!)).access_token).toBeTruthy();
    });

    /**
     * Waits for the logout token of this session and verifies it as Back-Channel Logout 1.0, 2.6
     * says.
     */
    async function heard(
      { tokens }: Listener,
      { server }: Party,
      who: { sub: string; sid: unknown },
    ): Promise<void> {
      const keys = createRemoteJWKSet(new URL(server.jwks_uri!));
      const token = await until(async () => {
        for (const token of tokens) {
          if (
            (
              JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as {
                sid: unknown;
              }
            ).sid === who.sid
          ) {
            return token;
          }
        }
        return undefined;
      }, 'the logout token');
      const { payload } = await jwtVerify(token, keys, {
        issuer: service.baseURL,
        audience: name,
        typ: 'logout+jwt',
        algorithms: [alg],
      });
      expect(payload).toMatchObject({
        sub: who.sub,
        sid: who.sid,
        jti: expect.any(String),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      });
      expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(120);
      expect(payload).not.toHaveProperty('nonce');
    }
  },
);

/** RP-Initiated Logout 1.0 as a browser goes through it; where it leads back to. */
async function signOut(tab: Tab, { server, client }: Party, hint: string): Promise<string> {
  const query = new URLSearchParams({
    id_token_hint: hint,
    client_id: client.client_id,
    post_logout_redirect_uri: 'https://app.example.test/bye',
    state: 'the-state',
  });
  const asked = (
    await tab.navigate(`${new URL(server.end_session_endpoint!).pathname}?${query}`).is(200)
  ).bytes.toString();
  const fields = new URLSearchParams({
    xsrf: /name="xsrf" value="([^"]+)"/.exec(asked)![1]!,
    logout: 'yes',
  });
  const { headers } = await tab
    .send('POST', /action="([^"]+)"/.exec(asked)![1]!, {
      body: fields.toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
      },
    })
    .is(303);
  return headers.location!;
}

interface Listener {
  readonly url: string;
  readonly tokens: string[];
  close(): void;
}

/** Starts an endpoint where a Client is notified of sign-outs. */
async function listen(): Promise<Listener> {
  const tokens: string[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request
      .on('data', (chunk: Buffer) => {
        body += chunk.toString();
      })
      .on('end', () => {
        tokens.push(new URLSearchParams(body).get('logout_token')!);
        response.end();
      });
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/sign-outs`,
    tokens,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.each(stores)('fifty redemptions of one code at once over two replicas, on %s', (store) => {
  afterAll(stopAll);

  test('give exactly one success, and what it got is dead', async () => {
    const service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    const replica = await service.replica();
    const party = await Party.of(service, 'raced', credentials.none());
    const request = await party.request(all, offline);
    const back = await party.send(service.tab(), request, 'raced@example.test');
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'raced',
      code: back.searchParams.get('code')!,
      redirect_uri: 'https://app.example.test/callback',
      code_verifier: request.verifier,
    }).toString();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 ? service : replica).tab().send('POST', '/oauth2/token', {
          plain: true,
          body,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ),
    );
    const won = answers.filter(({ code }) => code === 200);
    expect(won).toHaveLength(1);
    expect(
      answers.filter(({ code, body: error }) => code === 400 && error.error === 'invalid_grant'),
    ).toHaveLength(49);
    for (const one of [service, replica]) {
      expect(
        (
          await one.tab().get('/oauth2/userinfo', {
            plain: true,
            headers: { authorization: `Bearer ${won[0]!.body.access_token}` },
          })
        ).code,
      ).toBe(401);
    }
    expect(await errorOf(party.refresh(won[0]!.body.refresh_token))).toBe('invalid_grant');
  });
});
