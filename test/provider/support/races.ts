import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import type { Storage } from '../../../storage/storage.js';
import { repeats } from '../../support/repeats.js';
import { Browser } from './browser.js';
import { House } from './fixture.js';
import { RelyingParty } from './relyingparty.js';

/**
 * Races over two instances on one store; `open` gives each its own connection where the driver has
 * connections.
 */
export function races(
  driver: string,
  open: () => Promise<{ storages: [Storage, Storage]; close(): Promise<void> }>,
): void {
  describe(driver, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let one: House;
    let two: House;
    beforeAll(async () => {
      opened = await open();
      one = await House.open({ storage: opened.storages[0] });
      two = await House.open({ storage: opened.storages[1], baseURL: one.baseURL });
    });
    afterAll(async () => {
      for (const house of [one, two]) {
        expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
      }
      await one.close();
      await two.close();
      await opened.close();
    });

    const offline = { scope: 'openid offline_access', prompt: 'consent' };
    const at = (i: number): string => (i % 2 ? one : two).address;

    /** Asks for a token, and again where the store was late. */
    async function token(
      name: string,
      i: number,
      fields: Record<string, string>,
    ): Promise<{ status: number; body: Record<string, string> }> {
      for (;;) {
        const response = await fetch(`${at(i)}/oauth2/token`, {
          method: 'POST',
          body: new URLSearchParams(fields),
          headers: {
            accept: 'application/json',
            ...(!fields.client_id && {
              authorization: `Basic ${btoa(`${name}:secret-of-${name}`)}`,
            }),
          },
        });
        const body = (await response.json()) as Record<string, string>;
        if (!repeats.allows(`${response.status} ${body.error_description}`)) {
          return { status: response.status, body };
        }
      }
    }

    const userinfo = async (accessToken: string): Promise<number> =>
      (
        await fetch(`${one.address}/oauth2/userinfo`, {
          headers: { authorization: `Bearer ${accessToken}` },
        })
      ).status;

    /**
     * Fifty at once over two instances: exactly one gets through, and what it got is dead
     * afterwards.
     */
    async function fifty(
      name: string,
      fields: Record<string, string>,
    ): Promise<{ status: number; body: Record<string, string> }> {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => token(name, i, fields)),
      );
      const good = answers.filter(({ status }) => status === 200);
      expect(good).toHaveLength(1);
      for (const { status, body } of answers) {
        if (status !== 200) expect([status, body.error]).toEqual([400, 'invalid_grant']);
      }
      expect(await userinfo(good[0]!.body.access_token!)).toBe(401);
      return good[0]!;
    }

    describe('fifty at once over two instances', () => {
      test('one code gives one success, and reuse ends it', async () => {
        await one.client('race-code');
        const rp = await RelyingParty.of(one, 'race-code');
        const begun = await rp.begin(offline);
        const back = await new Browser(one).authorize(begun.url, {
          account: (await one.account()).metadata.name,
        });
        const won = await fifty('race-code', {
          grant_type: 'authorization_code',
          code: back.location!.searchParams.get('code')!,
          redirect_uri: rp.redirectURI,
          code_verifier: begun.verifier,
        });
        expect(
          (
            await token('race-code', 0, {
              grant_type: 'refresh_token',
              refresh_token: won.body.refresh_token!,
            })
          ).status,
        ).toBe(400);
      });

      test('one refresh token gives one new token, as the same answer to all', async () => {
        await one.client('race-refresh', { type: 'Public' });
        const rp = await RelyingParty.of(one, 'race-refresh', { public: true });
        const fields = (refreshToken: string) => ({
          grant_type: 'refresh_token',
          client_id: 'race-refresh',
          refresh_token: refreshToken,
        });
        const tokens = await rp.signIn(
          new Browser(one),
          { account: (await one.account()).metadata.name },
          offline,
        );
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            token('race-refresh', i, fields(tokens.refresh_token!)),
          ),
        );
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
        const [{ body }] = answers as [(typeof answers)[0]];
        expect((await token('race-refresh', 1, fields(body.refresh_token!))).status).toBe(200);
      });

      test('one pushed request gives one code, and revokes nothing', async () => {
        await one.client('race-push');
        const rp = await RelyingParty.of(one, 'race-push');
        const browser = new Browser(one);
        await rp.signIn(
          browser,
          { account: (await one.account()).metadata.name },
          { scope: 'openid' },
        );
        const begun = await rp.begin({ scope: 'openid' });
        const pushed = await oidc.buildAuthorizationUrlWithPAR(rp.config, begun.url.searchParams);
        const cookie = browser.cookieFor('/')!;
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            fetch(at(i) + pushed.pathname + pushed.search, {
              redirect: 'manual',
              headers: { cookie },
            }),
          ),
        );
        const codes = answers
          .map((answer) => answer.headers.get('location'))
          .filter((location) => location?.includes('code='));
        expect(codes).toHaveLength(1);
        expect((await rp.redeem(new URL(codes[0]!), begun)).access_token).toBeTruthy();
      });

      test('one device code gives one success', async () => {
        await one.client('race-device', {
          grantTypes: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
        });
        const account = (await one.account()).metadata.name;
        const started = await fetch(`${one.address}/oauth2/device/auth`, {
          method: 'POST',
          body: new URLSearchParams({ scope: 'openid' }),
          headers: { authorization: `Basic ${btoa('race-device:secret-of-race-device')}` },
        });
        const device = (await started.json()) as {
          device_code: string;
          verification_uri_complete: string;
        };
        const fields = {
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          device_code: device.device_code,
        };
        expect((await token('race-device', 0, fields)).body.error).toBe('authorization_pending');
        const browser = new Browser(one);
        await approve(browser, device.verification_uri_complete, account);
        await fifty('race-device', fields);
      });
    });

    async function approve(browser: Browser, address: string, account: string): Promise<void> {
      const hidden = (text: string): Record<string, string> =>
        Object.fromEntries(
          [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
            ([, name, value]) => [name!, value!],
          ),
        );
      const submitting = await browser.go(address);
      const confirm = await browser.post('/oauth2/device', hidden(submitting.text));
      expect(confirm.text).toContain('It shows this code');
      let answer = await browser.post('/oauth2/device', hidden(confirm.text));
      for (let i = 0; i < 3 && answer.location; i += 1) {
        answer = await browser.go(answer.location);
        const name = /interactions\/([a-z2-7]{32})/.exec(answer.url.pathname)?.[1];
        if (name) answer = await browser.go((await browser.act(name, { account })).returnTo);
        const next = /interactions\/([a-z2-7]{32})/.exec(answer.url.pathname)?.[1];
        if (next) answer = await browser.go((await browser.act(next, { account })).returnTo);
      }
      expect(answer.text).toContain('Your device is connected');
    }

    describe('two tabs', () => {
      test('silent sign-ins of many Clients at once in one browser all work', async () => {
        const account = (await one.account()).metadata.name;
        const browser = new Browser(one);
        const parties: RelyingParty[] = [];
        for (let i = 0; i < 6; i += 1) {
          await one.client(`tab-${i}`, { firstParty: true });
          parties.push(await RelyingParty.of(one, `tab-${i}`));
        }
        await parties[0]!.signIn(browser, { account }, { scope: 'openid' });
        const results = await Promise.all(
          parties.slice(1).map(async (rp) => {
            const begun = await rp.begin({ scope: 'openid', prompt: 'none' });
            const back = await browser.go(begun.url);
            return rp.redeem(back.location!, begun);
          }),
        );
        for (const [i, tokens] of results.entries()) {
          expect(
            await oidc.fetchUserInfo(parties[i + 1]!.config, tokens.access_token, account),
          ).toMatchObject({ sub: account });
        }
        expect((await one.sessions(account))[0]!.status.clients).toHaveLength(6);
      });

      test('a sign-out wins over an authorization that began before it', async () => {
        await one.client('late');
        const rp = await RelyingParty.of(one, 'late');
        const account = (await one.account()).metadata.name;
        const browser = new Browser(one);
        await rp.signIn(browser, { account }, { scope: 'openid' });
        const [session] = await one.sessions(account);
        const requests = Array.from({ length: 10 }, async () =>
          browser.go((await rp.begin({ scope: 'openid' })).url),
        );
        await one.endSession(session!.metadata.name);
        await Promise.all(requests);
        expect(await one.sessions(account)).toEqual([]);
        expect(await one.who(browser.cookieFor('/'))).toBeUndefined();
      });
    });
  });
}
