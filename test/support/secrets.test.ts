import { afterAll, expect, test } from '@jest/globals';
import { expectFor } from './expect-for.js';
import { begin, mailTo, redeem, signIn } from './people/signin.js';
import { Secrets, seen } from './secrets.js';
import { createClient, startTest, stopAll } from './service.js';

afterAll(stopAll);

test('a secret is found wherever it is, a code where it is alone', () => {
  const secrets = new Secrets();
  secrets.note(
    {
      headers: {
        'set-cookie': ['a=cookie-of-somebody; path=/'],
        location: '/callback?code=code-of-authorization&state=state-of-somebody',
      },
      body: {
        access_token: 'token-of-somebody',
        kind: 'MockMessage',
        status: { code: '123456', link: 'http://localhost/link#token=link-of-somebody' },
      },
    },
    'code_verifier=verifier-of-somebody',
  );
  expect(secrets.size).toBe(6);
  for (const text of [
    'x=cookie-of-somebody',
    'aacode-of-authorization',
    'token-of-somebody.',
    '{"link-of-somebody"}',
    'verifier-of-somebody',
    'code 123456',
    '"123456"',
  ]) {
    expectFor(text, secrets.in(text)).toEqual(true);
  }
  for (const text of [
    '',
    'cookie-of-somebod',
    'state-of-somebody',
    '1234567',
    'a123456',
    '.123456Z',
    'token-of-someone',
  ]) {
    expectFor(text, secrets.in(text)).toEqual(false);
  }
});

test('a record says no claim, however short, alone or among other words', () => {
  const secrets = new Secrets();
  secrets.claim('gold', 'a.b+c', 918273, 'of', true, 'supplied-of-someone');
  const record = (text: string): Buffer => Buffer.from(`....${JSON.stringify({ spec: { text } })}`);
  for (const text of ['gold', 'tier gold!', 'a.b+c', '918273', 'supplied-of-someone']) {
    expectFor(text, secrets.claimedIn(record(text))).toEqual(true);
  }
  for (const text of ['golden', 'fool-gold', 'aXb+c', 'of', 'true', '']) {
    expectFor(text, secrets.claimedIn(record(text))).toEqual(false);
  }
  expect([secrets.in('gold'), secrets.in('"supplied-of-someone"')]).toEqual([false, true]);
});

test('a service does not stop well with a secret of a browser in its log or its store', async () => {
  const [logging, storing, clean] = await Promise.all([startTest(), startTest(), startTest()]);
  for (const service of [logging, storing, clean]) await createClient(service, 'app');
  const { tab } = await begin(logging);
  logging.logs.push(`asked with ${tab.cookie('vestibule-interaction')}\n`);
  const begun = await begin(storing);
  await begun.tab
    .post(`${begun.I}/emailchallenge`, { spec: { email: 'ada@example.test' } })
    .is(200);
  const { token } = await mailTo(storing, 'ada@example.test');
  await storing.storage.commit(
    [],
    [{ put: 'objects/things/a', value: Buffer.from(`{"token":"${token}"}`) }],
  );
  await redeem(clean, await signIn(clean, 'eve@example.test'));
  expect(seen.size).toBeGreaterThan(10);
  await expect(logging.stop()).rejects.toThrow(
    /^1 lines of the log hold a secret, the first: asked with /,
  );
  await expect(storing.stop()).rejects.toThrow(
    /^1 objects of the store hold a secret, the first: objects\/things\/a /,
  );
  await clean.stop();
  await expect(stopAll()).rejects.toThrow(/hold a secret/);
});
