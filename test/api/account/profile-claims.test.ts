import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { redeem, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const spec = {
  displayName: 'Ada King',
  givenName: 'Ada',
  middleName: 'Augusta',
  familyName: 'King',
  nickname: 'Countess',
  preferredUsername: 'ada',
  profileURI: 'https://ada.example.test/about',
  pictureURI: 'https://ada.example.test/picture.png',
  websiteURI: 'https://ada.example.test/',
  gender: 'female',
  locale: 'en-GB',
  timeZone: 'Europe/London',
  birthdate: '1815-12-10',
};
const claims = {
  name: 'Ada King',
  given_name: 'Ada',
  middle_name: 'Augusta',
  family_name: 'King',
  nickname: 'Countess',
  preferred_username: 'ada',
  profile: 'https://ada.example.test/about',
  picture: 'https://ada.example.test/picture.png',
  website: 'https://ada.example.test/',
  gender: 'female',
  locale: 'en-GB',
  zoneinfo: 'Europe/London',
  birthdate: '1815-12-10',
};
const seconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);

describe.each(stores)('the claims of scope profile, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store });
    await createClient(service, 'app');
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  test('every claim of an account is shared, with the time of the last change', async () => {
    const begun = await signIn(service, 'ada@example.test', { scope: 'openid email profile' });
    const {
      body: { access_token: token },
    } = await redeem(service, begun);
    const shared = async (): Promise<Record<string, unknown>> =>
      (
        await service
          .tab()
          .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } })
          .is(200)
      ).body;
    const read = async () => (await begun.tab.get('accounts/~').is(200)).body;
    const created = seconds((await read()).metadata.creationTimestamp);
    const profile = { sub: expect.any(String), email: 'ada@example.test', email_verified: true };
    // Who filled in no name is called by the address, which this app gets.
    const unnamed = { name: 'ada', preferred_username: 'ada' };
    expect(await shared()).toEqual({ ...profile, ...unnamed, updated_at: created });

    clock.advance(120_000);
    const { body: changed } = await begun.tab.patch('accounts/~', { spec }).is(200);
    expect(seconds(changed.status.profileTimestamp)).toBeGreaterThanOrEqual(created + 120);
    expect(await shared()).toEqual({
      ...profile,
      ...claims,
      updated_at: seconds(changed.status.profileTimestamp),
    });

    clock.advance(120_000);
    await begun.tab
      .patch('accounts/~', {
        spec: { displayName: 'Ada King' },
        metadata: { labels: { seen: 'yes' } },
      })
      .is(200);
    expect((await read()).status.profileTimestamp).toBe(changed.status.profileTimestamp);
    await begun.tab.patch('accounts/~', { spec: { gender: null } }).is(200);
    const { gender: _, ...rest } = claims;
    const now = (await read()).status.profileTimestamp;
    expect(seconds(now)).toBeGreaterThan(seconds(changed.status.profileTimestamp));
    expect(await shared()).toEqual({ ...profile, ...rest, updated_at: seconds(now) });
  });
});
