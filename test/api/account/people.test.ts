import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailLimits } from '../../../kinds/interaction/email-challenge.js';
import { Account } from '../../../kinds/people/account/account.js';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import type { Storage } from '../../../storage/storage.js';
import { counting } from '../../provider/support/fixture.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Answer } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { Stopwatch } from '../../support/stopwatch.js';

/** What differs from request to request anyone who is asked about. */
const fleeting = new Set(['date', 'audit-id']);

describe('what an address reveals before it is verified', () => {
  let counted: Storage & { commits: number; reads: number };
  let service: TestService;
  const known = ['known1@example.test', 'known2@example.test'];
  const disabled = ['gone-1@example.test', 'gone-2@example.test'];
  const unknown = ['absent@example.test', 'noone2@example.test'];

  beforeAll(async () => {
    counted = counting(await openEmbedded({ directory: join(temporary(), 'store') }));
    service = await startTest({ storage: counted, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    for (const address of [...known, ...disabled]) await signIn(service, address);
    for (const address of disabled) await disable(address);
    await drawAhead();
  });
  afterAll(stopAll);

  /**
   * Draws from the limits by network what the challenges below take, so that none of them happens
   * to be the one that draws.
   */
  async function drawAhead(): Promise<void> {
    const { networkLimits, settings } = service.store;
    const { network } = mailLimits(settings.limits, 'stranger');
    await networkLimits.spend(network, '127.0.0.1', Date.now(), 100);
    networkLimits.refund(network, '127.0.0.1', Date.now(), 100);
  }

  const accountOf = async (address: string) =>
    (await service.store.reader(Account).byUnique('email', address))!;

  async function disable(address: string): Promise<void> {
    const { metadata } = await accountOf(address);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Account, metadata.name, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      }),
    );
  }

  /** The answer without what is this request's own: names, addresses, times. */
  function shape({ code, rawHeaders, body }: Answer, name: string, address: string): unknown {
    const headers = rawHeaders.flatMap((field, i) =>
      i % 2 ? [] : [[field, fleeting.has(field.toLowerCase()) ? '' : rawHeaders[i + 1]]],
    );
    const text = JSON.stringify({
      ...body,
      metadata: { ...body.metadata, uid: '', resourceVersion: '' },
    });
    return {
      code,
      headers,
      body: text
        .replaceAll(name, 'NAME')
        .replaceAll(address, 'ADDRESS')
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME'),
    };
  }

  /** Everything an onlooker can tell of one challenge, and what it cost the store. */
  async function challenge(
    address: string,
  ): Promise<{ seen: unknown; mails: number; commits: number; reads: number }> {
    const { tab, I, name } = await begin(service);
    await service.tab().delete('mockmessages').is(200);
    await quiet();
    const before = { commits: counted.commits, reads: counted.reads };
    const answer = await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    await mailTo(service, address);
    await quiet();
    const { body } = await service.tab().get('mockmessages').is(200);
    return {
      seen: shape(answer, name, address),
      mails: body.items.length,
      commits: counted.commits - before.commits,
      reads: counted.reads - before.reads,
    };
  }

  /** Until nothing more was committed for a while: no worker is under way. */
  async function quiet(): Promise<void> {
    for (let still = 0, last = counted.commits; still < 5; last = counted.commits) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      still = counted.commits === last ? still + 1 : 0;
    }
  }

  test('known, unknown and disabled: the same code, headers, body, mails and commits', async () => {
    const answers = [];
    for (const address of [
      known[0]!,
      unknown[0]!,
      disabled[0]!,
      unknown[1]!,
      disabled[1]!,
      known[1]!,
    ]) {
      answers.push(await challenge(address));
    }
    for (const answer of answers) expect(answer.seen).toEqual(answers[0]!.seen);
    expect(answers.map(({ mails }) => mails)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(answers.map(({ commits }) => commits)).size).toBe(1);
  });

  test('the mails read the same', async () => {
    const texts = [];
    for (const address of [known[0]!, unknown[0]!, disabled[0]!]) {
      await service.tab().delete('mockmessages').is(200);
      const { tab, I, name } = await begin(service);
      await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
      const mail = await mailTo(service, address);
      texts.push([
        mail.subject,
        mail.text
          .replaceAll(name, 'NAME')
          .replace(/^\d{4} \d{4}$/m, 'CODE')
          .replace(mail.token, 'TOKEN')
          .replaceAll(/\d\d:\d\d UTC/g, 'TIME'),
      ]);
    }
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[2]).toEqual(texts[0]);
  });

  test('wrong codes are answered alike; the proof reveals a disabled account', async () => {
    await service.tab().delete('mockmessages').is(200);
    const refused: unknown[] = [];
    for (const address of [known[0]!, unknown[0]!, disabled[0]!]) {
      const { tab, I, name } = await begin(service);
      await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
      const { code, token } = await mailTo(service, address);
      const answer = await tab
        .post(`${I}/login`, {
          spec: { method: 'EmailCode', code: code === '00000000' ? '00000001' : '00000000' },
        })
        .is(422);
      refused.push(shape(answer, name, address));
      if (address !== disabled[0]) continue;
      const { message } = await tab
        .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
        .fails(403, 'Forbidden');
      expect(message).toContain('disabled');
      await tab.post(`${I}/login`, { spec: { method: 'EmailLink', token } }).fails(410, 'Expired');
      await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).fails(410, 'Expired');
      expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
    }
    expect(refused[1]).toEqual(refused[0]);
    expect(refused[2]).toEqual(refused[0]);
  });

  test('an interaction says nothing of an address until it is proven', async () => {
    for (const address of [known[0]!, unknown[0]!, disabled[0]!]) {
      const { tab, I } = await begin(service, { parameters: { login_hint: address } });
      const before = await tab.get(I).is(200);
      expect(before.body.status.account).toBeUndefined();
      expect(before.body.status.methods).toEqual(['EmailCode', 'EmailLink', 'Passkey']);
      await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
      const after = await tab.get(I).is(200);
      expect(after.body.status.account).toBeUndefined();
    }
  });

  test('an account disabled between proof and consent gets nothing', async () => {
    const begun = await begin(service, { scope: 'openid email profile' });
    const { tab, I } = begun;
    await service.tab().delete('mockmessages').is(200);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'late-1@example.test' } }).is(200);
    const { code } = await mailTo(service, 'late-1@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    const second = (await tab.navigate(body.status.returnTo).is(303)).headers.location!;
    await disable('late-1@example.test');
    expect(
      (await tab.post(`${second}/consent`, { spec: { scopes: ['openid', 'email'] } })).code,
    ).toBe(410);
    await tab.get('accounts/~').fails(401, 'Unauthorized');
    const { metadata } = await accountOf('late-1@example.test');
    expect(
      (await service.storage.get(`objects/grants/${metadata.name}-app`)).entry,
    ).toBeUndefined();
  });

  test('two hundred challenges, known and unknown in turn, take equally long', async () => {
    const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    for (let i = 0; i < 200; i += 1) {
      const who = i % 2 ? 'known' : 'unknown';
      const { tab, I } = await begin(service);
      const stopwatch = new Stopwatch();
      await tab
        .post(`${I}/emailchallenge`, {
          spec: { email: who === 'known' ? known[0]! : `stranger-${i}@example.test` },
        })
        .is(200);
      took[who].push(stopwatch.milliseconds);
    }
    const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length / 2]!;
    expect(Math.abs(median(took.known) - median(took.unknown))).toBeLessThan(5);
  });
});
