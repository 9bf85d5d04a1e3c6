import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { codeSpellings } from '../../support/code-spellings.js';
import { type Begun, begin, mailTo, signIn, wrong } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

describe.each(stores)('emailed code and link, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  let address: string;
  let begun: Begun;
  let mail: Awaited<ReturnType<typeof mailTo>>;
  const challenged = async (
    to = `c${(number += 1)}@example.test`,
  ): Promise<{ begun: Begun; mail: typeof mail; address: string }> => {
    const one = await begin(service);
    await one.tab.post(`${one.I}/emailchallenge`, { spec: { email: to } }).is(200);
    return { begun: one, mail: await mailTo(service, to), address: to };
  };
  const byCode = (at: Begun, code: unknown) =>
    at.tab.post(`${at.I}/login`, { spec: { method: 'EmailCode', code } });
  const byLink = (at: Begun, token: string) =>
    at.tab.post(`${at.I}/login`, { spec: { method: 'EmailLink', token } });
  beforeEach(async () => {
    ({ begun, mail, address } = await challenged());
  });

  test('five wrong codes count down to 0, then wrong and right are 410', async () => {
    for (let left = 4; left >= 0; left -= 1) {
      const { details, message } = await byCode(begun, wrong(mail.code)).fails(
        422,
        'Invalid',
        'spec.code',
      );
      expect(details!.triesLeft).toBe(left);
      expect(message).toContain(`${left} tries left`);
      expect(JSON.stringify(details)).not.toContain(wrong(mail.code));
    }
    await byCode(begun, wrong(mail.code)).fails(410, 'Expired');
    await byCode(begun, mail.code).fails(410, 'Expired');
  });

  test('a code without tries left is followed by another at once', async () => {
    const another = () => begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } });
    for (let left = 4; left >= 0; left -= 1) {
      await another().fails(429, 'TooManyRequests');
      await byCode(begun, wrong(mail.code)).fails(422, 'Invalid', 'spec.code');
    }
    const { emailChallenge } = (await begun.tab.get(begun.I).is(200)).body.status;
    expect(Date.parse(emailChallenge.resendAfterTimestamp)).toBeLessThanOrEqual(Date.now());
    await another().is(200);
    await another().fails(429, 'TooManyRequests');
    const next = await mailTo(service, address, [mail.name]);
    await byCode(begun, next.code).is(200);
  });

  test('200 wrong codes at once spend exactly five tries', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => byCode(begun, wrong(mail.code))),
    );
    const codes = answers.map(({ code }) => code);
    expect(codes.filter((code) => code === 422)).toHaveLength(5);
    expect(codes.every((code) => [422, 410, 429, 503].includes(code))).toBe(true);
    expect(
      answers
        .filter(({ code }) => code === 422)
        .map(({ body }) => body.details.triesLeft)
        .sort(),
    ).toEqual([0, 1, 2, 3, 4]);
    await byCode(begun, mail.code).fails(410, 'Expired');
  });

  test('the right code twice is 200 and 410; twenty times at once one 200', async () => {
    await byCode(begun, mail.code).is(200);
    await byCode(begun, mail.code).fails(410, 'Expired');
    const second = await challenged();
    const codes = (
      await Promise.all(Array.from({ length: 20 }, () => byCode(second.begun, second.mail.code)))
    ).map(({ code }) => code);
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    const third = await challenged();
    const links = (
      await Promise.all(Array.from({ length: 20 }, () => byLink(third.begun, third.mail.token)))
    ).map(({ code }) => code);
    expect(links.filter((code) => code === 200)).toHaveLength(1);
    expect(links.filter((code) => code === 410)).toHaveLength(19);
  });

  test('the link of another sign-in is 403 and still good at home', async () => {
    const other = await challenged();
    await byLink(begun, other.mail.token).fails(403, 'Forbidden');
    if (other.mail.code !== mail.code) {
      expect(
        (await byCode(begun, other.mail.code).fails(422, 'Invalid', 'spec.code')).details!
          .triesLeft,
      ).toBe(4);
    }
    expect(
      (await other.begun.tab.get(other.begun.I).is(200)).body.status.emailChallenge.triesLeft,
    ).toBe(5);
    await byLink(other.begun, other.mail.token).is(200);
    await byLink(begun, 'x'.repeat(43)).fails(410, 'Expired');
  });

  test('opening the link elsewhere uses nothing up', async () => {
    const page = mail.link.slice(service.baseURL.length).split('#')[0]!;
    for (let i = 0; i < 20; i += 1) {
      for (const method of ['GET', 'HEAD']) {
        expect(
          (await service.tab().send(method, page, { headers: { accept: 'text/html' } })).code,
        ).toBe(200);
      }
    }
    await service
      .tab()
      .post(`${begun.I}/login`, { spec: { method: 'EmailLink', token: mail.token } })
      .fails(404, 'NotFound');
    await byLink(begun, mail.token).is(200);
  });

  test('a second mail waits 60 s; then only the newest works', async () => {
    clock.own();
    const { details } = await begun.tab
      .post(`${begun.I}/emailchallenge`, { spec: { email: address } })
      .fails(429, 'TooManyRequests');
    expect(details!.retryAfterSeconds).toBeGreaterThan(50);
    clock.advance(60_000);
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
    const newer = await mailTo(service, address, [mail.name]);
    await byLink(begun, mail.token).fails(410, 'Expired');
    if (mail.code !== newer.code) await byCode(begun, mail.code).fails(410, 'Expired');
    await byCode(begun, newer.code).is(200);
    clock.release();
  });

  test('using one ends the other', async () => {
    await byCode(begun, mail.code).is(200);
    await byLink(begun, mail.token).fails(410, 'Expired');
    const second = await challenged();
    await byLink(second.begun, second.mail.token).is(200);
    await byCode(second.begun, second.mail.code).fails(410, 'Expired');
  });

  test('good a second before its end, over a second after', async () => {
    clock.own();
    clock.advance(10 * 60_000 - 2_000);
    expect((await byCode(begun, wrong(mail.code)).fails(422, 'Invalid')).details!.triesLeft).toBe(
      4,
    );
    clock.advance(4_000);
    await byCode(begun, mail.code).fails(410, 'Expired');
    await byLink(begun, mail.token).fails(410, 'Expired');
    clock.release();
  });

  test.each(codeSpellings)('a code %s is taken', async (_, between) => {
    await byCode(begun, `${mail.code.slice(0, 4)}${between}${mail.code.slice(4)} `).is(200);
  });

  test('a replaced code says so and costs no try', async () => {
    clock.own();
    clock.advance(60_000);
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
    const newer = await mailTo(service, address, [mail.name]);
    if (mail.code !== newer.code) {
      for (let i = 0; i < 6; i += 1) {
        const { message } = await byCode(begun, mail.code).fails(410, 'Expired');
        expect(message).toContain('a newer one was sent; this cost no try');
      }
    }
    expect((await begun.tab.get(begun.I).is(200)).body.status.emailChallenge.triesLeft).toBe(5);
    await byCode(begun, newer.code).is(200);
    clock.release();
  });

  test('a malformed code names the tries that are left, and spends none', async () => {
    await byCode(begun, wrong(mail.code)).fails(422, 'Invalid', 'spec.code');
    for (const code of ['', 'x', mail.code.slice(1), `${mail.code}0`, `a${mail.code.slice(1)}`]) {
      const { details, message } = await byCode(begun, code).fails(422, 'Invalid', 'spec.code');
      expect(details!.triesLeft).toBe(4);
      expect(message).toContain('must be 8 digits; 4 tries left');
    }
    await byCode(begun, mail.code).is(200);
  });

  test('anything but its eight ASCII digits is 422 and spends nothing', async () => {
    for (const code of [
      Number(mail.code),
      mail.code.slice(1),
      mail.code.slice(2),
      `${mail.code}0`,
      'x'.repeat(65),
      mail.code.replace(/./g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
      null,
      [mail.code],
      { code: mail.code },
    ]) {
      await byCode(begun, code).fails(422, 'Invalid', 'spec.code');
    }
    await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode' } })
      .fails(422, 'Invalid', 'spec.code');
    await begun.tab
      .post(`${begun.I}/login`, {
        spec: { method: 'EmailCode', code: mail.code, token: mail.token },
      })
      .fails(422, 'Invalid', 'spec.token');
    await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'Magic', code: mail.code } })
      .fails(422, 'Invalid', 'spec.method');
    expect((await begun.tab.get(begun.I).is(200)).body.status.emailChallenge.triesLeft).toBe(5);
  });

  test('the link comes from the base URL; one address alone is taken', async () => {
    const one = await begin(service);
    for (const email of [
      'a@example.test\r\nBcc: b@example.test',
      'a@example.test,b@example.test',
      'a@example.test, b@example.test',
      '"a b"@example.test',
      'a@localhost',
      'a@-x.test',
      'a@x-.test',
      'a@exa_mple.test',
      'ä@example.test',
      'a@éxample.test',
      'a..b@example.test',
      '.a@example.test',
      'a.@example.test',
      'a@b@example.test',
      '<a@example.test>',
      'Ada <a@example.test>',
      `${'x'.repeat(65)}@example.test`,
      'a@example.test ',
      '',
      7,
      ['a@example.test'],
    ]) {
      await one.tab
        .post(`${one.I}/emailchallenge`, { spec: { email } })
        .fails(422, 'Invalid', 'spec.email');
    }
    await one.tab
      .post(
        `${one.I}/emailchallenge`,
        { spec: { email: 'host@example.test' } },
        {
          headers: {
            host: '127.0.0.1:1',
            'x-forwarded-host': 'evil.test',
            'x-forwarded-proto': 'https',
          },
        },
      )
      .is(200);
    expect(
      (await mailTo(service, 'host@example.test')).link.startsWith(
        `${service.baseURL}/interaction/`,
      ),
    ).toBe(true);
  });

  test('names are inert and cut in the mail; the code is in the mailbox alone', async () => {
    await createClient(service, `hostile${store}`, {
      displayName: '<b onclick=x>Evil</b> https://evil.test/x',
    });
    const one = await begin(service, { client: `hostile${store}` });
    const { body } = await one.tab
      .post(`${one.I}/emailchallenge`, { spec: { email: 'hostile@example.test' } })
      .is(200);
    const sent = await mailTo(service, 'hostile@example.test');
    expect(sent.html).not.toContain('<b onclick');
    expect(`${sent.html}${sent.text}${sent.subject}`).not.toContain('evil.test');
    expect(sent.subject).not.toContain(sent.code);
    expect(JSON.stringify(body)).not.toContain(sent.code);
    expect((await one.tab.get(one.I).is(200)).bytes.toString()).not.toContain(sent.code);
    expect(service.logs.join('')).not.toContain(sent.code);
    expect(service.logs.join('')).not.toContain(sent.token);
  });

  test('address case does not matter, a plus does, other letters are refused', async () => {
    const first = await signIn(service, `Case${store}@Example.test`);
    const second = await signIn(service, `case${store}@example.TEST`);
    const third = await signIn(service, `case${store}+x@example.test`);
    const names = await Promise.all(
      [first, second, third].map(
        async ({ tab }) => (await tab.get('accounts/~').is(200)).body.metadata.name,
      ),
    );
    expect(names[0]).toBe(names[1]);
    expect(names[2]).not.toBe(names[0]);
    const { tab, I } = await begin(service);
    for (const email of [
      `casé${store}@example.test`,
      `cas\u0065\u0301${store}@example.test`,
      `case${store}@exámple.test`,
      `\uff43ase${store}@example.test`,
    ]) {
      await tab
        .post(`${I}/emailchallenge`, { spec: { email } })
        .fails(422, 'Invalid', 'spec.email');
    }
  });

  test('a first sign-in of one address in ten interactions at once makes one Account', async () => {
    const to = `race${store}@example.test`;
    const all: { begun: Begun; code: string }[] = [];
    const seen: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      const one = await begin(service);
      await one.tab.post(`${one.I}/emailchallenge`, { spec: { email: to } }).is(200);
      const { code, name } = await mailTo(service, to, seen);
      seen.push(name);
      all.push({ begun: one, code });
    }
    const answers = await Promise.all(all.map(({ begun: at, code }) => byCode(at, code).is(200)));
    expect(new Set(answers.map(({ body }) => body.status.account.name)).size).toBe(1);
  });
});

describe('limits, at their real sizes', () => {
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  test('a code has as many digits as the setting says', async () => {
    const service = await startTest({ flags: ['--limits-email-code-digits', '6'] });
    await createClient(service, 'app');
    const { tab, I } = await begin(service);
    const { body } = await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'six@example.test' } })
      .is(200);
    expect(body.status.emailChallenge.codeLength).toBe(6);
    const { code } = await mailTo(service, 'six@example.test');
    expect(code).toMatch(/^\d{6}$/);
    const login = (typed: string) =>
      tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: typed } });
    await login(`${code}00`).fails(422, 'Invalid', 'spec.code');
    expect((await tab.get(I).is(200)).body.status.emailChallenge.triesLeft).toBe(5);
    await login(code).is(200);
  });

  test('five mails for an address and twenty for a network are sent in 15 minutes', async () => {
    const service = await startTest({ flags: ['--limit-factor', '1'] });
    await createClient(service, 'app');
    const challenge = async (email: string, headers: Record<string, string> = {}) => {
      const { tab, I } = await begin(service);
      return tab.post(`${I}/emailchallenge`, { spec: { email } }, { headers });
    };
    for (let i = 0; i < 5; i += 1) {
      expect((await challenge(i % 2 ? 'full@example.test' : 'FULL@Example.test')).code).toBe(200);
    }
    const sixth = await challenge('full@example.test');
    expect(sixth.code).toBe(429);
    expect(Number(sixth.headers['retry-after'])).toBe(sixth.body.details.retryAfterSeconds);
    for (let i = 0; i < 15; i += 1) expect((await challenge(`n${i}@example.test`)).code).toBe(200);
    for (let i = 0; i < 3; i += 1) {
      expect(
        (await challenge('one-more@example.test', { 'x-forwarded-for': `198.51.100.${i}` })).code,
      ).toBe(429);
    }
  });

  test('behind a trusted proxy the forwarded network counts', async () => {
    const service = await startTest({
      flags: ['--limit-factor', '1', '--trusted-proxies', '127.0.0.1'],
    });
    await createClient(service, 'app');
    const challenge = async (i: number, network: string) => {
      const { tab, I } = await begin(service);
      return (
        await tab.post(
          `${I}/emailchallenge`,
          { spec: { email: `p${i}@example.test` } },
          { headers: { 'x-forwarded-for': network } },
        )
      ).code;
    };
    for (let i = 0; i < 20; i += 1) expect(await challenge(i, '198.51.100.1')).toBe(200);
    expect(await challenge(20, '203.0.113.9, 198.51.100.1')).toBe(429);
    expect(await challenge(21, '198.51.100.2')).toBe(200);
  });

  test('a hundred wrong codes rest the codes of an address for strangers', async () => {
    const service = await startTest({ flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    const to = 'rest@example.test';
    const seen: string[] = [];
    const challenged = async (tab = service.tab()) => {
      const begun = await begin(service, { tab });
      await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: to } }).is(200);
      const mail = await mailTo(service, to, seen);
      seen.push(mail.name);
      return { begun, mail };
    };
    for (let i = 0; i < 20; i += 1) {
      const { begun, mail } = await challenged();
      for (let j = 0; j < 5; j += 1) {
        await begun.tab
          .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
          .fails(422, 'Invalid');
      }
    }
    const { begun, mail } = await challenged();
    expect(mail.code).toBeUndefined();
    expect(mail.text).not.toMatch(/^\d{4} ?\d{4}$/m);
    const { details } = await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: '12345678' } })
      .fails(429, 'TooManyRequests');
    expect(details!.retryAfterSeconds).toBeGreaterThan(890);
    await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailLink', token: mail.token } })
      .is(200);
    expect((await challenged()).mail.code).toBeUndefined();
    expect((await challenged(begun.tab)).mail.code).toMatch(/^\d{8}$/);
  });
});
