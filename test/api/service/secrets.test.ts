import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../cmd/vestibule/options/config.js';
import { type Service, startService } from '../../../cmd/vestibule/serve/service.js';
import { createLog } from '../../../observability/log.js';
import { newKeys } from '../../../security/keyring.js';
import { settles } from '../../support/patience.js';
import { Inbox } from '../../support/people/inbox.js';
import { begin, redeem, signIn } from '../../support/people/signin.js';
import { Tab } from '../../support/people/tab.js';
import { createClient, type TestService, temporary } from '../../support/service.js';

const root = join(import.meta.dirname, '../../..');
const closing: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A service that reads its secrets from files, with what it logged. */
async function start(
  flags: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ service: Service; reached: { tab(): Tab }; logs: string[] }> {
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs.push(String(chunk));
      done();
    },
  });
  const service = await startService(
    await loadConfig(['--port', '0', '--data-dir', temporary(), ...flags], environment),
    createLog('debug', sink),
    root,
  );
  closing.push(() => service.stop());
  await createClient(service as TestService, 'app');
  return { service, logs, reached: { tab: () => new Tab(service.url, service.baseURL) } };
}

/** A folder of secrets as Kubernetes lays it down: a link that is swapped. */
class Secrets {
  readonly #folder = temporary();
  #count = 0;
  constructor(texts: Readonly<Record<string, string>>) {
    for (const name of Object.keys(texts)) symlinkSync(join('..data', name), this.file(name));
    this.swap(texts);
  }
  file(name: string): string {
    return join(this.#folder, name);
  }
  swap(texts: Readonly<Record<string, string>>, mode = 0o600): void {
    const version = `..v${(this.#count += 1)}`;
    mkdirSync(join(this.#folder, version));
    for (const [name, text] of Object.entries(texts)) {
      writeFileSync(join(this.#folder, version, name), text, { mode });
    }
    symlinkSync(version, join(this.#folder, '..next'));
    renameSync(join(this.#folder, '..next'), join(this.#folder, '..data'));
  }
}

/** A file of settings that names the file of the mail server. */
function settingsWith(held: string): string {
  const file = join(temporary(), 'vestibule.yaml');
  writeFileSync(file, `smtpUrlFile: ${held}\n`);
  return file;
}

describe('the keys file is followed', () => {
  const [first, second] = [newKeys(), newKeys()];
  const secrets = new Secrets({ keys: JSON.stringify(first) });
  const kids = async (tab: Tab): Promise<string[]> =>
    (await tab.get('/oauth2/jwks').is(200)).body.keys.map(({ kid }: { kid: string }) => kid);
  const kidOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;

  test('no one is signed out by a whole rotation', async () => {
    const { reached, logs } = await start([
      '--mock-mail',
      '--keys-file',
      secrets.file('keys'),
      '--limit-factor',
      '10',
    ]);
    const tab = reached.tab();
    const before = await signIn(reached, 'ada@example.test', { tab });
    expect(kidOf((await redeem(reached, before)).body.id_token)).toBe(first.signing[1]!.kid);
    const added = {
      ...first,
      cookies: [...first.cookies, ...second.cookies],
      sealing: [...first.sealing, ...second.sealing],
      hmac: [...first.hmac, ...second.hmac],
      signing: [...first.signing, ...second.signing],
    };
    secrets.swap({ keys: JSON.stringify(added) });
    await settles(
      () => kids(tab),
      (all) => all.length === 4,
    );
    expect(await kids(tab)).toEqual(added.signing.map(({ kid }) => kid));
    expect(
      kidOf((await redeem(reached, await signIn(reached, 'bob@example.test'))).body.id_token),
    ).toBe(first.signing[1]!.kid);
    const under = await begin(reached);
    const moved = {
      ...first,
      cookies: [...second.cookies, ...first.cookies],
      sealing: [...second.sealing, ...first.sealing],
      hmac: [...second.hmac, ...first.hmac],
      signing: [...second.signing, ...first.signing],
    };
    secrets.swap({ keys: JSON.stringify(moved) });
    await settles(
      () => kids(tab),
      ([kid]) => kid === second.signing[0]!.kid,
    );
    expect((await under.tab.get(under.I).is(200)).body.status.phase).toBe('LoginRequired');
    await tab.get('sessions/~').is(200);
    const after = await redeem(reached, await signIn(reached, 'cyd@example.test'));
    expect(kidOf(after.body.id_token)).toBe(second.signing[1]!.kid);
    await tab.get('sessions/~').is(200);
    expect(logs.join('')).toContain('reloaded the keys file');
    for (const key of [...first.cookies, ...second.cookies, second.pairwise]) {
      expect(logs.join('')).not.toContain(key);
    }
  });

  test('and contents that cannot be used are logged, and change nothing', async () => {
    const one = new Secrets({ keys: JSON.stringify(first) });
    const { reached, logs } = await start(['--mock-mail', '--keys-file', one.file('keys')]);
    const tab = reached.tab();
    for (const text of [
      '{ "cookies": [',
      JSON.stringify({ ...first, pairwise: second.pairwise }),
      JSON.stringify({ ...first, signing: first.signing.slice(1) }),
    ]) {
      const logged = logs.length;
      one.swap({ keys: text });
      await settles(
        async () => logs.slice(logged).join(''),
        (all) => all.includes('the former keys stay in use'),
      );
      expect(await kids(tab)).toEqual(first.signing.map(({ kid }) => kid));
    }
    const whole = JSON.stringify({ ...first, signing: [...first.signing, ...second.signing] });
    const logged = logs.length;
    one.swap({ keys: whole }, 0o644);
    await settles(
      async () => logs.slice(logged).join(''),
      (all) =>
        all.includes('can be read by anyone on this machine') &&
        all.includes('the former keys stay'),
    );
    expect(await kids(tab)).toEqual(first.signing.map(({ kid }) => kid));
    one.swap({ keys: whole }, 0o440);
    await settles(
      () => kids(tab),
      (all) => all.length === 4,
    );
  });
});

test.each([
  ['VESTIBULE_SMTP_URL_FILE names', (held: string) => [[], { VESTIBULE_SMTP_URL_FILE: held }]],
  [
    'smtpUrlFile names in a file of settings',
    (held: string) => [['--config', settingsWith(held)], {}],
  ],
] as [string, (held: string) => [string[], Record<string, string>]][])(
  'the file of the mail server that %s is followed',
  async (_, given) => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const [former, next] = [new Inbox({}, () => held), new Inbox()];
    closing.push(
      () => former.close(),
      () => next.close(),
    );
    const [one, other] = [await former.listen(), await next.listen()];
    const secrets = new Secrets({ smtp: `${one}\n` });
    const [flags, environment] = given(secrets.file('smtp'));
    const { reached, logs } = await start(
      ['--email-from', 'sign-in@vestibule.test', ...flags],
      environment,
    );
    const ask = async (email: string): Promise<void> => {
      const { tab, I } = await begin(reached);
      await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
    };
    await ask('ada@example.test');
    await settles(
      async () => former.attempts,
      (attempts) => attempts === 1,
    );
    secrets.swap({ smtp: 'nonsense://me:hush@mail' });
    await settles(
      async () => logs.join(''),
      (all) => all.includes('the former mail server stays in use'),
    );
    secrets.swap({ smtp: other }, 0o644);
    await settles(
      async () => logs.join(''),
      (all) => all.includes('can be read by anyone on this machine'),
    );
    expect(logs.join('')).not.toContain('reloaded the mail server URL');
    secrets.swap({ smtp: other }, 0o440);
    await settles(
      async () => logs.join(''),
      (all) => all.includes('reloaded the mail server URL'),
    );
    await ask('bob@example.test');
    await settles(
      async () => next.received.length,
      (count) => count === 1,
    );
    release();
    await settles(
      async () => former.received.length,
      (count) => count === 1,
    );
    expect([former.received[0]!.to, next.received[0]!.to]).toEqual([
      ['ada@example.test'],
      ['bob@example.test'],
    ]);
    expect(logs.join('')).not.toContain('hush');
  },
);
