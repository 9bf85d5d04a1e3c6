import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { makeCertificate } from '../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { causeOf, smtpTransport } from '../../mail/smtp.js';
import { until } from '../provider/support/fixture.js';
import { clock } from '../support/clock.js';
import { Stream } from '../support/network/stream.js';
import { codeIn, Inbox, textOf } from '../support/people/inbox.js';
import { begin, proceed } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await stopAll();
  for (const close of closers) await close();
});

const address = 'ada.hidden@example.test';
const refusing = (code: number): Inbox =>
  new Inbox({
    onRcptTo: (_to, _session, callback) =>
      callback(Object.assign(new Error(`${address} is not here`), { responseCode: code })),
  });

/** A server that takes connections and says nothing. */
async function silent(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  );
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function absent(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => {
    probe.listen(0, '127.0.0.1', resolve);
  });
  const port = portOf(probe);
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return port;
}

describe.each(stores)('mail that cannot be sent, on %s', (store) => {
  const serve = async (mail: string): Promise<TestService> => {
    const service = await startTest({ store, mail, flags: ['--limit-factor', '100'] });
    await createClient(service, 'app');
    return service;
  };
  const failureLogOf = (service: TestService): any =>
    service.logs
      .map((line) => JSON.parse(line))
      .find(({ message }) => message === 'a mail was not sent');

  test.each([
    ['for good', 550, 'Failed'],
    ['for now', 451, 'Deferred'],
  ] as const)(
    'because the server refuses it %s: its browser learns it by watch',
    async (_, code, state) => {
      const inbox = refusing(code);
      const url = await inbox.listen();
      closers.push(() => inbox.close());
      const service = await serve(url);
      const { tab, I } = await begin(service);
      const { body } = await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
      expect(body.status.emailChallenge).toMatchObject({ sender: 'sign-in@vestibule.test' });
      const watch = new Stream(tab, `${I}?watch=true`);
      await watch.until(({ events }) =>
        events.some(({ object }: any) => object.status?.emailChallenge?.deliveryState === state),
      );
      expect(failureLogOf(service)).toMatchObject({
        host: new URL(url).host,
        cause: `${code} to RCPT TO`,
        again: state === 'Deferred',
      });
      expect(
        service.logs.filter((line) => line.includes('a mail was not sent')).join(''),
      ).not.toContain('ada.hidden');
      watch.close();
    },
  );

  test('because there is no server; once there is one, nothing is wrong any more', async () => {
    const port = await absent();
    const service = await serve(`smtp://127.0.0.1:${port}`);
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    const state = async (): Promise<unknown> =>
      (await tab.get(I).is(200)).body.status.emailChallenge.deliveryState;
    await until(async () => (await state()) === 'Deferred');
    expect(failureLogOf(service)).toMatchObject({
      host: `127.0.0.1:${port}`,
      cause: 'ECONNREFUSED',
    });
    const inbox = new Inbox();
    await inbox.listen(port);
    closers.push(() => inbox.close());
    await until(async () => inbox.received.length === 1 && (await state()) === undefined);
  });

  test.each([
    ['for good', 550, 'Failed'],
    ['for now', 451, 'Deferred'],
  ] as const)(
    'to a new address, refused %s: the session says so until it is sent',
    async (_, code, state) => {
      let isRefusing = true;
      const inbox = new Inbox({
        onRcptTo: (to, _session, callback) =>
          callback(
            isRefusing && to.address === address
              ? Object.assign(new Error('not here'), { responseCode: code })
              : null,
          ),
      });
      const url = await inbox.listen();
      closers.push(() => inbox.close());
      const service = await serve(url);
      const { tab, I } = await begin(service);
      await tab.post(`${I}/emailchallenge`, { spec: { email: 'old@example.test' } }).is(200);
      await until(async () => inbox.received.length === 1);
      const login = { method: 'EmailCode', code: codeIn(textOf(inbox.received[0]!.raw)) };
      const { body } = await tab.post(`${I}/login`, { spec: login }).is(200);
      await proceed(tab, body.status.returnTo);
      const challenge = async (email: string) =>
        (await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200)).body.status;
      const watch = new Stream(tab, 'sessions?watch=true');
      expect(await challenge(address)).toMatchObject({ sender: 'sign-in@vestibule.test' });
      const shown = () =>
        (watch.events.at(-1)?.object as any)?.status.emailDeliveryState as string | undefined;
      await watch.until(() => shown() === state);
      isRefusing = false;
      if (state === 'Failed') {
        clock.own();
        clock.advance(60_000);
        await challenge(address);
        clock.release();
      }
      await watch.until(() => shown() === undefined);
      await until(async () => inbox.received.some(({ to }) => to.includes(address)));
      watch.close();
    },
  );
});

test('a server that says nothing is one that cannot be reached', async () => {
  const server = await silent();
  const transport = smtpTransport({ url: `smtp://127.0.0.1:${portOf(server)}`, timeoutMs: 200 });
  closers.push(() => transport.close());
  await expect(
    transport.send(
      { to: address, from: 'sign-in@vestibule.test', subject: 's', text: 't', html: 'h' },
      'id',
    ),
  ).rejects.toMatchObject({
    name: 'MailRefusedError',
    permanent: false,
    serverFailure: { host: `127.0.0.1:${portOf(server)}`, cause: 'ETIMEDOUT' },
  });
});

test('the number before a message of OpenSSL is no cause', () => {
  const message =
    '40EDAADC5E7F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number';
  const code = 'ERR_SSL_WRONG_VERSION_NUMBER';
  expect(causeOf(Object.assign(new Error(message), { code: 'ESOCKET', originalCode: code }))).toBe(
    code,
  );
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:25'), {
    code: 'ESOCKET',
  });
  expect(causeOf(refused)).toBe('ECONNREFUSED');
});

test.each([
  ['is not trusted', { names: ['localhost'], isTrusted: false }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['has another name', { names: ['other.test'], isTrusted: true }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['is none', { isTrusted: false }, 'ERR_SSL_WRONG_VERSION_NUMBER'],
] as [string, { names?: string[]; isTrusted: boolean }, string][])(
  'a server whose certificate %s got no mail, which is sent again, with the cause',
  async (_, { names, isTrusted }, cause) => {
    const pair = names && (await makeCertificate(names, Date.now()));
    const inbox = new Inbox(pair ? { secure: true, ...pair } : {});
    const { port } = new URL(await inbox.listen());
    const caFile = join(temporary(), 'ca.pem');
    writeFileSync(caFile, pair?.cert ?? '');
    const transport = smtpTransport({
      url: `smtps://localhost:${port}`,
      timeoutMs: 2_000,
      ...(isTrusted && { caFile }),
    });
    closers.push(
      () => transport.close(),
      () => inbox.close(),
    );
    await expect(
      transport.send(
        { to: address, from: 'sign-in@vestibule.test', subject: 's', text: 't', html: 'h' },
        'id',
      ),
    ).rejects.toMatchObject({
      name: 'MailRefusedError',
      permanent: false,
      serverFailure: { host: `localhost:${port}`, cause },
    });
    expect(inbox.received).toEqual([]);
  },
);
