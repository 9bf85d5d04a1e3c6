import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { lifetimes } from '../../provider/configuration/lifetimes.js';
import { clock } from '../support/clock.js';
import { signIn } from '../support/people/signin.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { credentials, errorOf, Party } from './support/party.js';

afterAll(stopAll);
afterEach(() => {
  clock.release();
});

describe.each(stores)('lifetimes, on the %s store', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: [
        '--operators',
        'op@example.test',
        '--limit-factor',
        '100',
        '--limits-access-token-lifetime',
        '30m',
        '--limits-id-token-lifetime',
        '20m',
      ],
    });
  });

  test('tokens live as long as the settings say, or as their Client says', async () => {
    const plain = await Party.of(service, 'plain', credentials.none());
    const own = await Party.of(service, 'own', credentials.none(), {
      lifetimes: { accessToken: '5m', idToken: '2m' },
    });
    const [first, second] = [
      await plain.signIn(service.tab(), 'a@example.test'),
      await own.signIn(service.tab(), 'b@example.test'),
    ];
    const idTokenLife = (token: string): number => decodeJwt(token).exp! - decodeJwt(token).iat!;
    expect([first.expires_in, idTokenLife(first.id_token!)]).toEqual([1_800, 1_200]);
    expect([second.expires_in, idTokenLife(second.id_token!)]).toEqual([300, 120]);
  });

  test.each([
    [undefined, 600],
    ['FAPI2', 60],
  ])('a code lives as long as the settings say, with the profile %s %d s', (profile, lasts) => {
    const settings = { ...defaultLimits, authorizationCodeLifetime: 600_000 };
    const { AuthorizationCode: lifetime } = lifetimes(settings);
    expect(lifetime(undefined, {} as never, { profile } as never)).toBe(lasts);
  });

  test('refresh tokens of a Client live as long as it says after their last use', async () => {
    const own = await Party.of(service, 'refreshing', credentials.basic('a secret of its own'), {
      lifetimes: { refreshToken: '10m' },
    });
    const plain = await Party.of(
      service,
      'refreshing-plain',
      credentials.basic('a secret of its own'),
    );
    const offline = async (party: Party, address: string): Promise<string> =>
      (await party.signIn(service.tab(), address, 'openid offline_access', { prompt: 'consent' }))
        .refresh_token!;
    const [first, other] = [
      await offline(own, 'd@example.test'),
      await offline(plain, 'e@example.test'),
    ];
    clock.own();
    clock.advance(9 * 60_000);
    const second = (await own.refresh(first)).refresh_token!;
    clock.advance(9 * 60_000);
    const third = (await own.refresh(second)).refresh_token!;
    clock.advance(11 * 60_000);
    expect(await errorOf(own.refresh(third))).toBe('invalid_grant');
    expect((await plain.refresh(other)).refresh_token).toBeTruthy();
  });

  test('a Client that wants a recent sign-in demands it of a session that is older', async () => {
    const strict = await Party.of(service, 'strict', credentials.none(), {
      lifetimes: { signIn: '1m' },
    });
    const tab = service.tab();
    await strict.signIn(tab, 'c@example.test', 'openid email');
    const request = await strict.request('openid email');
    expect(
      (await tab.navigate(request.url.pathname + request.url.search).is(303)).headers.location,
    ).not.toMatch(/^\/api\/.*interactions/);
    const now = Date.now;
    Date.now = () => now() + 61_000;
    try {
      const { headers } = await tab.navigate(request.url.pathname + request.url.search).is(303);
      expect((await tab.get(headers.location!).is(200)).body.status.phase).toBe('LoginRequired');
    } finally {
      Date.now = now;
    }
  });

  test('absurd lifetimes of a Client are refused with the reason', async () => {
    const { tab: operator } = await signIn(service, 'op@example.test', { client: 'plain' });
    const spec = {
      displayName: 'Absurd',
      type: 'Public',
      redirectURIs: ['https://app.example.test/callback'],
    };
    const refused = async (lifetimes: unknown) =>
      (
        await operator
          .post('clients', { metadata: { name: 'absurd' }, spec: { ...spec, lifetimes } })
          .is(422)
      ).body.details.causes;
    expect(await refused({ accessToken: '8760h', signIn: '1s' })).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.lifetimes.accessToken',
        message:
          'Invalid value: must be from 1m to 24h: less breaks Clients, and what is stolen counts for as long; got 8760h',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.lifetimes.signIn',
        message:
          'Invalid value: must be from 1m to 2160h: people would have to sign in constantly, or never again; got 1s',
      },
    ]);
    expect(await refused({ idToken: 'long' })).toMatchObject([{ field: 'spec.lifetimes.idToken' }]);
    await operator
      .post('clients', {
        metadata: { name: 'sane' },
        spec: { ...spec, lifetimes: { accessToken: '15m', refreshToken: '24h' } },
      })
      .is(201);
  });
});
