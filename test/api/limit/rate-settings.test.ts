import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { challenge, signedInByPasskey } from '../../support/people/passkeys.js';
import {
  authorizationPath,
  type Begun,
  begin,
  mailTo,
  signIn,
  wrong,
} from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

jest.setTimeout(120_000);

const minute = 60_000;
const form = { 'content-type': 'application/x-www-form-urlencoded' };

let service: TestService;
let tab: Tab;
beforeAll(async () => {
  clock.own();
  const limits = {
    'requests-per-network': 12,
    'proofs-per-network': 11,
    'passkeys-per-network': 10,
    'challenges-per-session': 6,
    'changes-per-network': 13,
    'exports-per-network': 2,
    'recoveries-per-account-day': 1,
    'recovery-cancels-per-network': 7,
    'wrong-secrets-per-network': 4,
    'wrong-user-codes-per-session': 3,
    'wrong-user-codes-per-network': 10,
    'wrong-codes-per-address': 10,
    'code-rest': '2m',
    'code-rest-max': '3m',
    'redirect-uri-size': 300,
    'signed-parameter-size': '1Ki',
  };
  service = await startTest({
    flags: [
      '--operators',
      'op@example.test',
      ...Object.entries(limits).flatMap(([name, value]) => [`--limits-${name}`, String(value)]),
    ],
  });
  await createClient(service, 'app');
});
afterAll(async () => {
  clock.release();
  await stopAll();
});
/** Each test begins with a window of its own, long after those before. */
afterEach(() => {
  clock.advance(3 * 3_600_000);
});

/** Moves to the beginning of a window, so that what follows falls into one. */
const align = (): void => clock.advance(900_000 - (Date.now() % 900_000) + 1);

/** How many answers are had until one is refused as one too many. */
async function granted(ask: () => Pending): Promise<number> {
  for (let count = 0; count < 40; count += 1) if ((await ask()).code === 429) return count;
  throw new Error('none of forty was refused');
}

describe('a rate is as it was set', () => {
  test.each([
    ['GET', authorizationPath('app', 'openid', 'x'.repeat(43))],
    ['POST', '/oauth2/par'],
    ['POST', '/oauth2/device/auth'],
    ['GET', '/oauth2/device'],
    ['GET', '/oauth2/logout'],
  ])('requests: %s %s', async (method, path) => {
    align();
    expect(
      await granted(() => service.tab().send(method, path, { plain: true, headers: form })),
    ).toBe(12);
  });

  test('proofs of a sign-in, and of a new address', async () => {
    const { tab: own } = await signIn(service, 'proofs@example.test');
    align();
    const { tab: browser, I } = await begin(service);
    expect(
      await granted(() =>
        browser.post(`${I}/login`, { spec: { method: 'EmailCode', code: '12345678' } }),
      ),
    ).toBe(11);
    expect(await granted(() => own.post('accounts/~/email', { spec: { code: '12345678' } }))).toBe(
      11,
    );
  });

  test('challenges for passkeys of one sign-in, of one network, and registrations', async () => {
    align();
    const one = await begin(service);
    for (let i = 0; i < 6; i += 1) await challenge(one.tab, one.I, 'Authenticate');
    await one.tab
      .post(`${one.I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
      .fails(429, 'TooManyRequests');
    const other = await begin(service);
    expect(
      await granted(() =>
        other.tab.post(`${other.I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } }),
      ),
    ).toBe(3);
    const { tab: own } = await signIn(service, 'keys@example.test');
    align();
    expect(await granted(() => own.post('passkeys', { spec: {} }))).toBe(10);
  });

  test('changes and exports', async () => {
    const { tab: own } = await signIn(service, 'changes@example.test');
    align();
    expect(await granted(() => own.patch('accounts/~', { spec: { displayName: 'Ada' } }))).toBe(13);
    expect(await granted(() => own.get('accounts/~/export'))).toBe(2);
  });

  test('recoveries, and tries to cancel one', async () => {
    ({ tab } = await signedInByPasskey(service, 'recover@example.test'));
    const { body } = await tab.post('accounts/~/recovery', { spec: {} }).is(201);
    align();
    expect(
      await granted(() =>
        service
          .tab()
          .post(`recoveries/${body.metadata.name}/cancel`, { spec: { token: 'A'.repeat(43) } }),
      ),
    ).toBe(7);
    await tab.delete(`recoveries/${body.metadata.name}`).is(200);
    const again = await signIn(service, 'recover@example.test');
    await again.tab.post('accounts/~/recovery', { spec: {} }).fails(429, 'TooManyRequests');
  });

  test('wrong secrets of a Client', async () => {
    const { tab: operator } = await signIn(service, 'op@example.test');
    await operator
      .post('clients', {
        metadata: { name: 'web' },
        spec: {
          displayName: 'Web',
          type: 'Confidential',
          redirectURIs: ['https://app.example.test/callback'],
          scopes: [{ name: 'openid', required: true }],
        },
      })
      .is(201);
    align();
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: 'https://app.example.test/callback',
      code_verifier: 'x'.repeat(43),
    }).toString();
    const headers = {
      ...form,
      authorization: `Basic ${Buffer.from('web:wrong').toString('base64')}`,
    };
    expect(
      await granted(() =>
        service.tab().send('POST', '/oauth2/token', { plain: true, body, headers }),
      ),
    ).toBe(4);
  });

  test('wrong codes of devices, by browser and by network', async () => {
    align();
    const wrongs = async (browser: Tab): Promise<number> => {
      let fields = hidden((await browser.navigate('/oauth2/device')).bytes.toString());
      for (let count = 0; count < 20; count += 1) {
        const answer = await browser.send('POST', '/oauth2/device', {
          body: new URLSearchParams({ ...fields, user_code: 'BBBB-BBBB' }).toString(),
          headers: { ...form, accept: 'text/html' },
        });
        if (answer.code === 429) return count;
        fields = hidden(answer.bytes.toString());
      }
      throw new Error('none of twenty was refused');
    };
    expect([await wrongs(service.tab()), await wrongs(service.tab())]).toEqual([3, 3]);
    clock.advance(minute); // another window of requests, the same one of wrong codes
    expect(await wrongs(service.tab())).toBe(2);
  });
});

/** The hidden fields of a form. */
const hidden = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  );

test('codes rest for as long as was set, each time twice as long, up to the longest', async () => {
  const to = 'rest@example.test';
  const challenged = async (): Promise<{ begun: Begun; code: string }> => {
    const begun = await begin(service);
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: to } }).is(200);
    const { code } = await mailTo(service, to);
    await service.tab().delete('mockmessages').is(200);
    return { begun, code };
  };
  const guess = ({ begun, code }: Awaited<ReturnType<typeof challenged>>): Pending =>
    begun.tab.post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: wrong(code) } });
  const rests: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    clock.advance(15 * minute); // the windows of mails and of wrong codes
    align();
    const [one, other, third] = [await challenged(), await challenged(), await challenged()];
    for (const at of [one, other]) {
      for (let tried = 0; tried < 5; tried += 1) await guess(at).fails(422, 'Invalid');
    }
    rests.push((await guess(third).fails(429, 'TooManyRequests')).details!.retryAfterSeconds!);
  }
  expect(rests.map((seconds) => Math.ceil(seconds / 10) * 10)).toEqual([120, 180, 180]);
});

test.each([
  ['redirect_uri', 300],
  ['request', 1_024],
])('the size of %s is as it was set', async (name, max) => {
  align();
  const said = async (bytes: number): Promise<string> => {
    const path = authorizationPath('app', 'openid', 'x'.repeat(43), { [name]: 'x'.repeat(bytes) });
    return (await service.tab().send('GET', path, { plain: true })).bytes.toString();
  };
  expect(await said(max)).not.toContain('is over');
  expect(await said(max + 1)).toContain(`${name} is over ${max} bytes`);
});
