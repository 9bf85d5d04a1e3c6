import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { Appearance } from '../../kinds/appearance/appearance.js';
import { png } from '../kinds/appearance/images.js';
import { settles, until } from '../support/patience.js';
import { codeIn, Inbox, type Received, textOf } from '../support/people/inbox.js';
import { begin } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { Stopwatch } from '../support/stopwatch.js';

const inboxes: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await stopAll();
  await Promise.all(inboxes.splice(0).map((inbox) => inbox.close()));
});
afterAll(stopAll);

async function startWith(mail: string): Promise<TestService> {
  const service = await startTest({ mail, flags: ['--limit-factor', '100'] });
  await createClient(service, 'app');
  return service;
}

const refused = (code: number): Error =>
  Object.assign(new Error('not now'), { responseCode: code });

describe('mail by a real SMTP server', () => {
  test('one mail a challenge: explicit envelope, code first, the link works', async () => {
    const inbox = new Inbox();
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'Ada@Example.test' } }).is(200);
    await until(() => inbox.received.length === 1);
    const [mail] = inbox.received as [Received];
    expect(mail).toMatchObject({ from: 'sign-in@vestibule.test', to: ['Ada@example.test'] });
    expect(mail.raw).toMatch(/^Subject: Your sign-in to app app\r$/m);
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const text = textOf(mail.raw);
    const code = codeIn(text);
    expect(text.indexOf(code)).toBeLessThan(text.indexOf('#token='));
    expect(mail.raw).not.toMatch(/<img|<script|http-equiv/i);
    await tab
      .post(`${I}/login`, {
        spec: { method: 'EmailLink', token: /#token=([\w-]{43})/.exec(text)![1] },
      })
      .is(200);
    expect(service.logs.join('')).not.toContain(code);
  });

  test('a mail carries the logo, and loads nothing', async () => {
    const inbox = new Inbox();
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const logo = png(64, 32).toString('base64');
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Appearance, 'default', ({ spec }) => {
        Object.assign(spec, { accentColor: '#0c6b62', logo });
      }),
    );
    await settles(
      async () => (await service.tab().navigate('/account').is(200)).bytes,
      (bytes) => bytes.includes('/assets/appearance-'),
    );
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
    await until(() => inbox.received.length === 1);
    const { raw } = inbox.received[0]!;
    expect(raw).toMatch(/^Content-Type: multipart\/alternative/m);
    expect(raw).toMatch(/^Content-Type: multipart\/related/m);
    const [, image = ''] = raw.split(/^Content-ID: <logo@vestibule>\r\n/m);
    expect(image).toMatch(/^Content-Disposition: inline; filename=logo\.png\r$/m);
    const file = /\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(image)![1]!;
    expect(PNG.sync.read(Buffer.from(file, 'base64')).width).toBe(64);
    const html = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(html.match(/<img[^>]* src="[^"]*"/g)).toEqual(['<img src="cid:logo@vestibule"']);
    expect(codeIn(textOf(raw))).toMatch(/^\d+$/);
  });

  test('a server that refuses for now is asked again, with the same code', async () => {
    const codes: string[] = [];
    const inbox = new Inbox({}, (box) => (box.attempts < 3 ? refused(451) : undefined));
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } }).is(200);
    await until(() => inbox.received.length === 1);
    codes.push(codeIn(textOf(inbox.received[0]!.raw)));
    expect(inbox.attempts).toBe(3);
    await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: codes[0] } }).is(200);
  });

  test('a server that refuses for good is not asked again', async () => {
    const inbox = new Inbox({}, () => refused(550));
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } }).is(200);
    await until(() => service.logs.some((line) => line.includes('a mail was not sent')));
    await until(() => inbox.attempts === 1);
    const left = await service.storage.list({ start: 'outbox/mail/', end: 'outbox/mail0' });
    await until(() => left.entries.length === 0 || inbox.attempts === 1);
    expect(inbox.received).toEqual([]);
  });

  test('a server that is down: the answer does not wait, the mail comes when it is back', async () => {
    const probe: Server = createServer();
    await new Promise<void>((resolve) => {
      probe.listen(0, '127.0.0.1', resolve);
    });
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => {
      probe.close(resolve);
    });
    const service = await startWith(`smtp://127.0.0.1:${port}`);
    const { tab, I } = await begin(service);
    const stopwatch = new Stopwatch();
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } }).is(200);
    expect(stopwatch.milliseconds).toBeLessThan(3_000);
    await until(() => service.logs.some((line) => line.includes('a mail was not sent')));
    const inbox = new Inbox();
    await inbox.listen(port);
    inboxes.push(inbox);
    await until(() => inbox.received.length === 1);
    expect((await tab.get('/readyz')).code).toBe(200);
  });

  test('a slow server holds up neither the answer nor other mails', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const inbox = new Inbox({}, (box) => (box.attempts === 1 ? held : undefined));
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const [first, second] = [await begin(service), await begin(service)];
    await first.tab
      .post(`${first.I}/emailchallenge`, { spec: { email: 'slow@example.test' } })
      .is(200);
    await until(() => inbox.attempts === 1);
    await second.tab
      .post(`${second.I}/emailchallenge`, { spec: { email: 'quick@example.test' } })
      .is(200);
    await until(() => inbox.received.some(({ to }) => to[0] === 'quick@example.test'));
    const stopping = service.stop();
    release();
    await stopping;
    expect(inbox.received.map(({ to }) => to[0]).sort()).toEqual([
      'quick@example.test',
      'slow@example.test',
    ]);
  });

  test('two challenges never share a code: the newest mail works', async () => {
    const inbox = new Inbox();
    const service = await startWith(await inbox.listen());
    inboxes.push(inbox);
    const all = await Promise.all(Array.from({ length: 5 }, () => begin(service)));
    await Promise.all(
      all.map(({ tab, I }, i) =>
        tab.post(`${I}/emailchallenge`, { spec: { email: `n${i}@example.test` } }).is(200),
      ),
    );
    await until(() => inbox.received.length === 5);
    for (const [i, { tab, I }] of all.entries()) {
      const mail = inbox.received.find(({ to }) => to[0] === `n${i}@example.test`)!;
      await tab
        .post(`${I}/login`, { spec: { method: 'EmailCode', code: codeIn(textOf(mail.raw)) } })
        .is(200);
    }
    expect(inbox.attempts).toBe(5);
  });
});
