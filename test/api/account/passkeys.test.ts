import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { clock } from '../../support/clock.js';
import { settles } from '../../support/patience.js';
import {
  Authenticator,
  algorithms,
  type Item,
  type Lies,
} from '../../support/people/authenticator.js';
import {
  askingOf,
  assertion,
  authenticated,
  challenge,
  passkeyLogin,
  register,
  signedInByPasskey,
  signInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import { begin, isNoNotice, mailTo, proceed, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(120_000);

const minute = 60_000;

describe.each(stores)('passkeys, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    other = await service.replica();
    await createClient(service, 'app');
  });
  afterEach(async () => {
    await service.tab().delete('mockmessages').is(200);
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
    expect(
      [...service.logs, ...other.logs].filter(
        (line) => (JSON.parse(line) as { level: string }).level === 'error',
      ),
    ).toEqual([]);
  });

  let number = 0;
  const address = (): string => `p${(number += 1)}-${store}@example.test`;
  const elsewhere = (tab: Tab): Tab => {
    const copy = other.tab();
    copy.cookies = [...tab.cookies];
    return copy;
  };
  const stored = async (name: string) => (await service.store.reader(Passkey).get(name))!;
  const events = (event: string): number =>
    service.logs.filter((line) => (JSON.parse(line) as { event?: string }).event === event).length;

  test('options say everything, and ask the same of everybody', async () => {
    const [{ tab: known, authenticator }, one, two] = [
      await signedInByPasskey(service, address()),
      await begin(service),
      await begin(service),
    ];
    const shapes = [];
    for (const { tab, I } of [one, two]) {
      const { body } = await tab
        .post(`${I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
        .is(201);
      expect(Buffer.from(body.status.options.challenge, 'base64url')).toHaveLength(32);
      shapes.push({
        ...body,
        status: {
          ...body.status,
          expirationTimestamp: '',
          options: { ...body.status.options, challenge: '' },
        },
      });
      await tab.post(`${I}/emailchallenge`, { spec: { email: address() } }).is(200);
    }
    expect(shapes[0]).toEqual({
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'PasskeyChallenge',
      spec: { purpose: 'Authenticate' },
      status: {
        expirationTimestamp: '',
        options: {
          challenge: '',
          timeout: 300_000,
          rpId: 'localhost',
          allowCredentials: [],
          userVerification: 'required',
        },
      },
    });
    expect(shapes[1]).toEqual(shapes[0]);
    const { challenge: bytes, user, ...options } = await challenge(known, 'accounts/~', 'Register');
    expect(Buffer.from(bytes, 'base64url')).toHaveLength(32);
    expect(Buffer.from(user.id, 'base64url')).toHaveLength(64);
    expect(options).toEqual({
      timeout: 300_000,
      rp: { id: 'localhost', name: 'localhost' },
      attestation: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: [
        {
          id: authenticator.id.toString('base64url'),
          type: 'public-key',
          transports: ['hybrid', 'internal'],
        },
      ],
    });
  });

  test.each(algorithms)(
    '%s: registered, used to sign in, and shown as it is',
    async (algorithm) => {
      const email = address();
      const { tab, name, account, authenticator } = await withPasskey(
        service,
        email,
        new Authenticator({ algorithm, synced: algorithm !== 'EdDSA' }),
      );
      const { body } = await tab.get(`passkeys/${name}`).is(200);
      expect(body.spec).toEqual({ displayName: '1Password' });
      expect(body.status).toEqual({
        account,
        deviceType: algorithm === 'EdDSA' ? 'singleDevice' : 'multiDevice',
        backedUp: algorithm !== 'EdDSA',
        transports: ['hybrid', 'internal'],
        authenticator: { aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d', name: '1Password' },
        lastUsedTimestamp: null,
        fullStrengthTimestamp: body.metadata.creationTimestamp,
        conditions: [expect.objectContaining({ type: 'FullStrength', status: 'True' })],
      });
      expect((await tab.get('accounts/~').is(200)).body.status).toMatchObject({
        passkeys: 1,
        setup: { missing: ['displayName'] },
      });
      const notice = await mailTo(service, email);
      expect(notice.subject).toContain('added');
      const signed = await signInByPasskey(service, authenticator);
      const session = (await signed.tab.get('sessions/~').is(200)).body;
      expect(session.status).toMatchObject({ account, methods: ['Passkey'], assurance: 'phr' });
      expect(
        (await signed.tab.get(`passkeys/${name}`).is(200)).body.status.lastUsedTimestamp,
      ).toMatch(/Z$/);
      const tokens = await redeem(service, signed);
      expect(
        JSON.parse(Buffer.from(tokens.body.id_token.split('.')[1], 'base64url').toString()),
      ).toMatchObject({ sub: account, acr: 'phr', amr: ['pop', 'user', 'mfa'] });
    },
  );

  test('id and response are enough, and what browsers add is ignored', async () => {
    const { authenticator } = await withPasskey(service, address());
    const begun = await begin(service);
    const sent = (await assertion(service, begun, authenticator)) as { spec: { credential: any } };
    const { id, response } = sent.spec.credential;
    await begun.tab
      .post(`${begun.I}/login`, {
        spec: {
          method: 'Passkey',
          credential: {
            id,
            response: { ...response, more: { x: [1] } },
            clientExtensionResults: { appid: true },
            verified: true,
          },
        },
      })
      .is(200);
  });

  test('in setup: only once signed in, and the account says so', async () => {
    const early = await begin(service);
    const anything = {
      spec: { credential: { id: 'x', response: { clientDataJSON: 'x', attestationObject: 'x' } } },
    };
    await early.tab
      .post(`${early.I}/passkeychallenge`, { spec: { purpose: 'Register' } })
      .fails(409, 'Conflict');
    await early.tab.post(`${early.I}/passkeys`, anything).fails(409, 'Conflict');
    for (const action of ['passkeychallenge', 'passkeys']) {
      await early.tab.post(`${early.I}/${action}`, {}).fails(422, 'Invalid');
    }
    const email = address();
    const { tab, I } = await authenticated(service, email);
    expect((await tab.get(I).is(200)).body.status.account.setup).toEqual({
      complete: false,
      missing: ['displayName', 'passkey'],
    });
    await tab
      .post(`${I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
      .fails(409, 'Conflict');
    const authenticator = new Authenticator();
    const options = await challenge(tab, I, 'Register');
    const sent = {
      spec: {
        displayName: 'My key',
        credential: authenticator.create(askingOf(service, options), {}, options.user.id),
      },
    };
    const { body } = await tab.post(`${I}/passkeys`, sent).is(201);
    expect(body).toMatchObject({
      kind: 'Passkey',
      spec: { displayName: 'My key' },
      metadata: { name: expect.stringContaining(`${body.status.account}-`) },
    });
    const shown = (await tab.get(I).is(200)).body.status;
    expect(shown.account.setup).toEqual({ complete: false, missing: ['displayName'] });
    const again = await tab.post(`${I}/passkeys`, sent).fails(403, 'Forbidden'); // from now on by passkey alone
    expect(again.details).toMatchObject({
      methods: ['Passkey'],
      causes: [{ reason: 'ReauthenticationRequired' }],
    });
    await proceed(tab, shown.returnTo);
    await tab
      .post(`${I}/passkeychallenge`, { spec: { purpose: 'Register' } })
      .fails(409, 'Conflict');
    await signInByPasskey(service, authenticator);
  });

  test('the same assertion twice; a refused one, and an old one, used its challenge up', async () => {
    const { authenticator } = await withPasskey(service, address());
    const { begun, sent, answer } = await passkeyLogin(service, authenticator);
    await answer.is(200);
    await begun.tab.post(`${begun.I}/login`, sent).fails(409, 'Conflict');
    const second = await begin(service);
    const options = await challenge(second.tab, second.I, 'Authenticate');
    const [lie, truth] = [{ signature: () => Buffer.alloc(64) }, {}].map((lies) => ({
      spec: { method: 'Passkey', credential: authenticator.get(askingOf(service, options), lies) },
    }));
    await second.tab.post(`${second.I}/login`, lie).fails(422, 'Invalid', 'spec.credential');
    await second.tab.post(`${second.I}/login`, truth).fails(422, 'Invalid', 'spec.credential');
    const former = await assertion(service, second, authenticator);
    const newer = await assertion(service, second, authenticator);
    await second.tab.post(`${second.I}/login`, former).fails(422, 'Invalid', 'spec.credential');
    await second.tab.post(`${second.I}/login`, newer).fails(422, 'Invalid', 'spec.credential');
    const old = await assertion(service, second, authenticator);
    clock.advance(301_000);
    await second.tab.post(`${second.I}/login`, old).fails(422, 'Invalid', 'spec.credential');
    const inTime = await assertion(service, second, authenticator);
    clock.advance(290_000);
    await second.tab.post(`${second.I}/login`, inTime).is(200);
  });

  test('twenty times at once over two replicas: one sign-in, one registration', async () => {
    const { authenticator, tab } = await signedInByPasskey(
      service,
      address(),
      new Authenticator({ counter: 0 }),
    );
    const begun = await begin(service);
    const sent = await assertion(service, begun, authenticator);
    const copies = Array.from({ length: 20 }, (_, i) => (i % 2 ? elsewhere(begun.tab) : begun.tab));
    const codes = (
      await Promise.all(copies.map((copy) => copy.post(`${begun.I}/login`, sent)))
    ).map(({ code }) => code);
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(codes.filter((code) => code !== 200 && code !== 422 && code !== 409)).toEqual([]);
    const options = await challenge(tab, 'accounts/~', 'Register');
    const credential = new Authenticator().create(askingOf(service, options), {}, options.user.id);
    const made = (
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? elsewhere(tab) : tab).post('passkeys', { spec: { credential } }),
        ),
      )
    ).map(({ code }) => code);
    expect(made.filter((code) => code === 201)).toHaveLength(1);
    expect(made.filter((code) => code !== 201 && code !== 422)).toEqual([]);
    expect((await tab.get('accounts/~').is(200)).body.status.passkeys).toBe(2);
  });

  test('one assertion of a counting authenticator in two sign-ins at once counts on', async () => {
    const { authenticator, name } = await withPasskey(
      service,
      address(),
      new Authenticator({ counter: 5 }),
    );
    const begun = [await begin(service), await begin(service)];
    const sent: unknown[] = [];
    for (const one of begun) {
      authenticator.counter = 6;
      sent.push(await assertion(service, one, authenticator));
    }
    const codes = (
      await Promise.all(
        begun.map(({ tab, I }, i) => (i ? elsewhere(tab) : tab).post(`${I}/login`, sent[i])),
      )
    ).map(({ code }) => code);
    expect(codes.sort()).toEqual([200, 422]);
    expect((await stored(name)).internal.counter).toBe(6);
  });

  test('every fault is one answer, of the known and the unknown', async () => {
    const { authenticator } = await withPasskey(service, address());
    const stranger = new Authenticator();
    stranger.userHandle = authenticator.userHandle;
    const lies: [Authenticator, Lies][] = [
      [stranger, {}],
      [
        authenticator,
        {
          signature: (bytes) => {
            const copy = Buffer.from(bytes);
            copy[20]! ^= 1;
            return copy;
          },
        },
      ],
      [authenticator, { clientData: { origin: 'https://evil.test' } }],
      [authenticator, { rpID: 'evil.test' }],
      [authenticator, { flags: (flags) => flags & ~4 }],
      [authenticator, { flags: (flags) => flags & ~1 }],
      [stranger, { flags: (flags) => flags & ~24 }],
      [authenticator, { clientData: { challenge: randomBytes(32).toString('base64url') } }],
      [authenticator, { clientData: { crossOrigin: true } }],
      [authenticator, { clientData: { topOrigin: service.baseURL } }],
      [authenticator, { userHandle: null }],
      [authenticator, { userHandle: randomBytes(64).toString('base64url') }],
      [authenticator, { credential: { id: 'AAAA', rawId: 'AAAA' } }],
      [authenticator, { clientData: { type: 'webauthn.create' } }],
    ];
    const answersSeen = new Set<string>();
    for (const [which, lie] of lies) {
      const { begun, answer } = await passkeyLogin(service, which, { lies: lie });
      const { headers: _, ...status } = await answer.fails(422, 'Invalid', 'spec.credential');
      answersSeen.add(JSON.stringify(status).replaceAll(begun.name, 'NAME'));
      expect((await begun.tab.get(begun.I).is(200)).body.status.phase).toBe('LoginRequired');
    }
    const [here, there] = [await begin(service), await begin(service)];
    const foreign = await assertion(service, there, authenticator);
    for (const sent of [foreign, foreign]) {
      const { headers: _, ...status } = await here.tab
        .post(`${here.I}/login`, sent)
        .fails(422, 'Invalid', 'spec.credential');
      answersSeen.add(JSON.stringify(status).replaceAll(here.name, 'NAME'));
    }
    expect(answersSeen.size).toBe(1);
    await there.tab.post(`${there.I}/login`, foreign).is(200);
  });

  test('a counter that goes back is refused, and watches get the change', async () => {
    const { authenticator, name } = await withPasskey(
      service,
      address(),
      new Authenticator({ counter: 5 }),
    );
    const before = events('passkey.counter');
    for (const counter of [5, 4]) {
      await (await passkeyLogin(service, authenticator, { lies: { counter } })).answer.fails(
        422,
        'Invalid',
        'spec.credential',
      );
    }
    expect(events('passkey.counter')).toBe(before + 2);
    await (await passkeyLogin(service, authenticator, { lies: { counter: 9 } })).answer.is(200);
    expect((await stored(name)).internal.counter).toBe(9);
    const { authenticator: silent } = await withPasskey(service, address());
    for (let i = 0; i < 2; i += 1) await (await passkeyLogin(service, silent)).answer.is(200);
  });

  test('a credential belongs to one person once; a wrong answer creates nothing', async () => {
    const owner = await signedInByPasskey(service, address());
    const email = address();
    const { tab } = await signIn(service, email);
    await service.tab().delete('mockmessages').is(200);
    await (
      await register(service, tab, new Authenticator({ id: owner.authenticator.id }))
    ).answer.fails(409, 'AlreadyExists');
    await (await register(service, owner.tab, owner.authenticator)).answer.fails(
      409,
      'AlreadyExists',
    );
    await signInByPasskey(service, owner.authenticator);
    const wrong: Lies[] = [
      { key: (key) => new Map<Item, Item>([...key, [3, -257]]) },
      { key: (key) => new Map<Item, Item>([...key, [3, -36]]) },
      { clientData: { origin: 'https://evil.test' } },
      { clientData: { type: 'webauthn.get' } },
      { flags: (flags) => flags & ~4 },
      { attestedID: randomBytes(32) },
    ];
    for (const lies of wrong) {
      await (await register(service, tab, new Authenticator(), { lies })).answer.fails(
        422,
        'Invalid',
        'spec.credential',
      );
    }
    expect((await tab.get('passkeys').is(200)).body.items).toEqual([]);
    expect((await tab.get('accounts/~').is(200)).body.status.passkeys).toBe(0);
    expect(
      (await service.tab().get('mockmessages').is(200)).body.items.filter(
        ({ status }: any) => status.to === email && isNoNotice(status),
      ),
    ).toEqual([]);
    await (
      await register(service, tab, new Authenticator(), { lies: { format: 'packed' } })
    ).answer.is(201);
  });

  test.each(['packed', 'tpm', 'android-key', 'android-safetynet', 'fido-u2f', 'apple', 'new-one'])(
    'an attestation that was not asked for is ignored: %s',
    async (format) => {
      const { tab } = await signIn(service, address());
      const authenticator = new Authenticator();
      const statement = () =>
        new Map<Item, Item>([
          ['alg', -7],
          ['sig', randomBytes(70)],
          ['x5c', [randomBytes(2_000), randomBytes(2_000)]],
        ]);
      await (
        await register(service, tab, authenticator, { lies: { format, statement } })
      ).answer.is(201);
      await signInByPasskey(service, authenticator);
    },
  );

  test('one that a person adds is no warning in the log, and one that is removed is', async () => {
    const { tab, name } = await withPasskey(service, address());
    await tab.delete(`passkeys/${name}`).is(200);
    const levels = async () =>
      service.logs
        .map((line) => JSON.parse(line))
        .filter(({ event, passkey }) => passkey === name && /^passkey/.test(event))
        .map(({ event, level }) => [event, level]);
    expect(await settles(levels, (all) => all.length === 2)).toEqual([
      ['passkey.added', 'info'],
      ['passkey.removed', 'warn'],
    ]);
  });

  test('one whose backup eligibility changed says so, to who has its key alone', async () => {
    const changes: [boolean, (flags: number) => number][] = [
      [true, (flags) => flags & ~24], // neither eligible nor backed up any more
      [false, (flags) => flags | 8], // now eligible
      [false, (flags) => flags | 24], // now eligible and backed up
    ];
    const field = 'spec.credential.response.authenticatorData';
    for (const [synced, flags] of changes) {
      const own = new Authenticator({ synced });
      const { authenticator, name } = await signedInByPasskey(service, address(), own);
      const kept = (await stored(name)).status;
      expect(kept.deviceType).toBe(synced ? 'multiDevice' : 'singleDevice');
      const login = async (by: Authenticator, field: string) =>
        (await passkeyLogin(service, by, { lies: { flags } })).answer.fails(422, 'Invalid', field);
      const { message, details } = await login(authenticator, field);
      expect(message).toContain('remove it and add it again');
      expect(details!.causes!.map((cause) => cause.field)).toEqual([field]);
      const thief = new Authenticator({ id: authenticator.id, shared: false });
      thief.userHandle = authenticator.userHandle;
      const refused = await login(thief, 'spec.credential');
      expect(refused.details!.causes!.map((cause) => cause.field)).toEqual(['spec.credential']);
      expect((await stored(name)).status).toEqual(kept);
      await signInByPasskey(service, authenticator);
    }
  });

  test('twenty passkeys are the most, however many are made at once', async () => {
    const { tab, account } = await signedInByPasskey(service, address());
    await service.store.change(service.store.systemCall(), async (tx) => {
      for (let i = 0; i < 18; i += 1) {
        await tx.create(Passkey, {
          metadata: { name: `${account}-x${i}` },
          spec: { displayName: `x${i}` },
          internal: { credentialID: `${account}${i}`, publicKey: '', counter: 0 },
          status: {
            account,
            deviceType: 'singleDevice',
            backedUp: false,
            transports: [],
            authenticator: { aaguid: '' },
            lastUsedTimestamp: null,
            fullStrengthTimestamp: toTimestamp(Date.now()),
          },
        });
      }
    });
    await (await register(service, tab)).answer.is(201);
    await (await register(service, tab)).answer.fails(409, 'Conflict');
    expect((await tab.get('accounts/~').is(200)).body.status.passkeys).toBe(20);
  });

  test('no one else has access to them; they are gone everywhere at once', async () => {
    const [owner, another] = [
      await signedInByPasskey(service, address()),
      await withPasskey(service, address()),
    ];
    for (const path of [`passkeys/${owner.name}`]) {
      await another.tab.get(path).fails(404, 'NotFound');
      await another.tab.delete(path).fails(404, 'NotFound');
      await another.tab.patch(path, { spec: { displayName: 'Mine' } }).fails(404, 'NotFound');
    }
    expect(
      (await another.tab.get('passkeys').is(200)).body.items.map(
        ({ metadata }: any) => metadata.name,
      ),
    ).toEqual([another.name]);
    expect(
      (await owner.tab.patch(`passkeys/${owner.name}`, { spec: { displayName: 'Laptop' } }).is(200))
        .body.spec.displayName,
    ).toBe('Laptop');
    const begun = await begin(service);
    const sent = await assertion(service, begun, owner.authenticator);
    await owner.tab.delete(`passkeys/${owner.name}`).is(200);
    await elsewhere(begun.tab)
      .post(`${begun.I}/login`, sent)
      .fails(422, 'Invalid', 'spec.credential');
    expect((await owner.tab.get('accounts/~').is(200)).body.status).toMatchObject({
      passkeys: 0,
      setup: { missing: ['displayName', 'passkey'] },
    });
    const ready = await begin(service);
    const good = await assertion(service, ready, another.authenticator);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Account, another.account, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      }),
    );
    expect(
      (await elsewhere(ready.tab).post(`${ready.I}/login`, good).fails(403, 'Forbidden')).message,
    ).toContain('disabled');
    await ready.tab.post(`${ready.I}/login`, good).fails(422, 'Invalid', 'spec.credential');
  });

  test('only soon after a sign-in; the notice is mailed and the other sessions are ended', async () => {
    const email = address();
    const { tab, name, authenticator } = await signedInByPasskey(service, email);
    const second = await signInByPasskey(service, authenticator);
    const options = await challenge(tab, 'accounts/~', 'Register');
    clock.advance(11 * minute);
    const reason = 'ReauthenticationRequired';
    const credential = new Authenticator().create(askingOf(service, options), {}, options.user.id);
    for (const refused of [
      tab.post('passkeys', { spec: { credential } }),
      tab.delete(`passkeys/${name}`),
      tab.post('accounts/~/passkeychallenge', { spec: { purpose: 'Register' } }),
    ]) {
      expect((await refused.fails(403, 'Forbidden')).details!.causes![0]!.reason).toBe(reason);
    }
    await tab.get(`passkeys/${name}`).is(200);
    const pending = await passkeyLogin(service, authenticator);
    const onTheWay = (await pending.answer.is(200)).body.status.returnTo;
    const early = await challenge(pending.begun.tab, pending.begun.I, 'Register');
    const begunBefore = new Authenticator().create(askingOf(service, early), {}, early.user.id);
    const fresh = await signInByPasskey(service, authenticator);
    await service.tab().delete('mockmessages').is(200);
    await fresh.tab.delete(`passkeys/${name}?dryRun=All`).is(200);
    await second.tab.get('sessions/~').is(200);
    expect(
      (await service.tab().get('mockmessages').is(200)).body.items.filter(({ status }: any) =>
        isNoNotice(status),
      ),
    ).toEqual([]);
    await fresh.tab.delete(`passkeys/${name}`).is(200);
    await fresh.tab.get('sessions/~').is(200);
    for (const ended of [tab, second.tab, elsewhere(second.tab)]) {
      expect(await eventually(() => ended.get('sessions/~'), 401)).toBe(401);
    }
    const halfway = pending.begun;
    await halfway.tab.get(`${halfway.I}/account`).fails(410, 'Expired');
    await halfway.tab
      .post(`${halfway.I}/passkeychallenge`, { spec: { purpose: 'Register' } })
      .fails(410, 'Expired');
    await halfway.tab
      .post(`${halfway.I}/passkeys`, { spec: { credential: begunBefore } })
      .fails(410, 'Expired');
    const { headers } = await halfway.tab.navigate(onTheWay).is(303);
    expect(headers.location).not.toContain('code=');
    await halfway.tab.get('accounts/~').fails(401, 'Unauthorized');
    expect((await mailTo(service, email)).subject).toContain('removed');
    await (await passkeyLogin(service, authenticator)).answer.fails(
      422,
      'Invalid',
      'spec.credential',
    );
  });

  /** The code of an answer that the other replica gives at the latest a second later. */
  async function eventually(
    ask: () => PromiseLike<{ code: number }>,
    code: number,
  ): Promise<number> {
    return (await settles(ask, (answer) => answer.code === code)).code;
  }

  test('of thirty other sessions none counts any more', async () => {
    const { tab, name, authenticator } = await signedInByPasskey(service, address());
    const others = [];
    for (let i = 0; i < 30; i += 1) {
      others.push((await signInByPasskey(service, authenticator)).tab);
    }
    await tab.delete(`passkeys/${name}`).is(200);
    for (const other of others) {
      expect(await eventually(() => other.get('sessions/~'), 401)).toBe(401);
    }
    await settles(
      () => tab.get('sessions').is(200),
      ({ body }) => body.items.length === 1,
    );
  });

  test('an operator may see and delete them, soon after signing in, and no more', async () => {
    const email = address();
    const { name, tab } = await withPasskey(service, email);
    await service.tab().delete('mockmessages').is(200);
    const { tab: operator } = await signIn(service, 'op@example.test');
    await operator.get(`passkeys/${name}`).is(200);
    await operator
      .patch(`passkeys/${name}`, { spec: { displayName: 'x' } })
      .fails(403, 'Forbidden');
    await operator.delete(`passkeys/${name}`).is(200);
    expect((await mailTo(service, email)).text).toContain('by someone who runs this service');
    expect(await eventually(() => tab.get('sessions/~'), 401)).toBe(401);
    await operator.get('sessions/~').is(200);
  });

  test('a passkey ends code and link; a code ends the passkey’s challenge', async () => {
    const email = address();
    const { authenticator } = await withPasskey(service, email);
    await service.tab().delete('mockmessages').is(200);
    const challenged = async () => {
      const begun = await begin(service);
      await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email } }).is(200);
      const mail = await mailTo(service, email);
      await service.tab().delete('mockmessages').is(200);
      return { begun, mail, sent: await assertion(service, begun, authenticator) };
    };
    const one = await challenged();
    await one.begun.tab.post(`${one.begun.I}/login`, one.sent).is(200);
    await one.begun.tab
      .post(`${one.begun.I}/login`, { spec: { method: 'EmailCode', code: one.mail.code } })
      .fails(410, 'Expired');
    await one.begun.tab
      .post(`${one.begun.I}/login`, { spec: { method: 'EmailLink', token: one.mail.token } })
      .fails(410, 'Expired');
    clock.advance(minute);
    const two = await challenged();
    await two.begun.tab
      .post(`${two.begun.I}/login`, { spec: { method: 'EmailCode', code: two.mail.code } })
      .is(200);
    await two.begun.tab.post(`${two.begun.I}/login`, two.sent).fails(409, 'Conflict');
  });

  test('before an address is proven nothing hangs on it', async () => {
    const email = address();
    const begun = await begin(service);
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email } }).is(200);
    const stranger = new Authenticator();
    stranger.userHandle = randomBytes(64).toString('base64url');
    await begun.tab
      .post(`${begun.I}/login`, await assertion(service, begun, stranger))
      .fails(422, 'Invalid', 'spec.credential');
    await begun.tab
      .post(`${begun.I}/passkeychallenge`, { spec: { purpose: 'Register' } })
      .fails(409, 'Conflict');
    expect(await service.store.reader(Account).byUnique('email', email)).toBeUndefined();
    await service
      .tab()
      .post('passkeys', { spec: { credential: { id: 'x', response: {} } } })
      .fails(401, 'Unauthorized');
    await service
      .tab()
      .post('accounts/~/passkeychallenge', { spec: { purpose: 'Register' } })
      .fails(401, 'Unauthorized');
  });

  test('challenges of one purpose, one person, one browser answer nothing else', async () => {
    const [{ tab, authenticator }, another] = [
      await signedInByPasskey(service, address()),
      await signedInByPasskey(service, address()),
    ];
    const options = await challenge(tab, 'accounts/~', 'Register');
    const credential = new Authenticator().create(askingOf(service, options), {}, options.user.id);
    await another.tab
      .post('passkeys', { spec: { credential } })
      .fails(422, 'Invalid', 'spec.credential');
    const begun = await begin(service);
    await begun.tab
      .post(`${begun.I}/login`, {
        spec: { method: 'Passkey', credential: authenticator.get(askingOf(service, options)) },
      })
      .fails(422, 'Invalid', 'spec.credential');
    await tab.post('passkeys', { spec: { credential } }).is(201);
    await tab
      .post('accounts/~/passkeychallenge', { spec: { purpose: 'Authenticate' } })
      .fails(422, 'Invalid', 'spec.purpose');
    await begun.tab
      .post(`${begun.I}/passkeychallenge`, { spec: { purpose: 'Steal' } })
      .fails(422, 'Invalid', 'spec.purpose');
  });

  test('neither keys nor challenges leave by any way', async () => {
    const { tab, name, authenticator } = await withPasskey(service, address());
    const begun = await begin(service);
    const { challenge: bytes } = await challenge(begun.tab, begun.I, 'Authenticate');
    const { internal } = await stored(name);
    const seen =
      [
        (await tab.get(`passkeys/${name}`).is(200)).bytes,
        (await tab.get('passkeys').is(200)).bytes,
        (await tab.get('accounts/~').is(200)).bytes,
        (await begun.tab.get(begun.I).is(200)).bytes,
      ].join('') + service.logs.join('');
    for (const secret of [
      internal.publicKey,
      internal.credentialID,
      bytes,
      authenticator.userHandle,
    ]) {
      expect(seen).not.toContain(secret);
    }
  });
});

describe('limits and policies', () => {
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  test('sixty challenges an interaction, sixty a minute a network', async () => {
    clock.hold();
    const service = await startTest({ flags: ['--limit-factor', '1'] });
    await createClient(service, 'app');
    const one = await begin(service);
    for (let i = 0; i < 60; i += 1) await challenge(one.tab, one.I, 'Authenticate');
    const other = await begin(service);
    await other.tab
      .post(`${other.I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
      .fails(429, 'TooManyRequests');
    clock.advance(61_000);
    await other.tab
      .post(`${other.I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
      .is(201);
    await one.tab
      .post(`${one.I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } })
      .fails(429, 'TooManyRequests');
  });

  test('a Client that policy keeps for passkeys refuses other methods', async () => {
    const service = await startTest({
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    for (const name of ['app', 'vault', 'bank']) await createClient(service, name);
    const { tab: operator } = await signedInByPasskey(service, 'op@example.test'); // who demands passkeys has one
    const standing = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    const rule = (text: string): Promise<unknown> =>
      operator.post('policies', { spec: { cedar: `${standing}\n${text}` } }).is(201);
    const person = await withPasskey(service, 'ada@example.test');
    await rule(`@id("vault") @message("The vault opens by passkey.") forbid (principal, action == Action::"interactions/login", resource) when { context has method && context.method != "Passkey" && context has client && context.client == Client::"vault" };
@id("bank") @message("The bank wants a passkey.") forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.methods.contains("Passkey") };`);

    const vault = await begin(service, { client: 'vault' });
    expect((await vault.tab.get(vault.I).is(200)).body.status.methods).toEqual(['Passkey']);
    await vault.tab
      .post(`${vault.I}/emailchallenge`, { spec: { email: 'ada@example.test' } })
      .is(200);
    const { code } = await mailTo(service, 'ada@example.test', []);
    expect(
      (
        await vault.tab
          .post(`${vault.I}/login`, { spec: { method: 'EmailCode', code: code ?? '12345678' } })
          .fails(403, 'Forbidden')
      ).message,
    ).toContain('The vault opens by passkey.');
    expect(
      (
        await signInByPasskey(service, person.authenticator, { client: 'vault' })
      ).callback.searchParams.get('code'),
    ).toBeTruthy();
    expect((await begin(service)).I).toBeTruthy();

    const visitor = await begin(service, { client: 'bank' });
    expect((await visitor.tab.get(visitor.I).is(200)).body.status.methods).toEqual(['Passkey']);
    const elsewhere = await begin(service);
    expect((await elsewhere.tab.get(elsewhere.I).is(200)).body.status.methods).toEqual([
      'EmailCode',
      'EmailLink',
      'Passkey',
    ]);

    const bank = await begin(service, { client: 'bank', tab: person.tab });
    expect((await bank.tab.get(bank.I).is(200)).body.status).toMatchObject({
      phase: 'LoginRequired',
      methods: ['Passkey'],
    });
    await bank.tab
      .post(`${bank.I}/login`, { spec: { method: 'EmailCode', code: '12345678' } })
      .fails(403, 'Forbidden');
    await bank.tab
      .post(`${bank.I}/login`, { spec: { method: 'EmailLink', token: 'x'.repeat(43) } })
      .fails(403, 'Forbidden');
    const { body } = await bank.tab
      .post(`${bank.I}/login`, await assertion(service, bank, person.authenticator))
      .is(200);
    const callback = await proceed(bank.tab, body.status.returnTo);
    expect(callback.searchParams.get('code')).toBeTruthy();
    expect((await redeem(service, { ...bank, callback })).body.id_token).toBeTruthy();

    await rule(
      '@id("passkeys-only") @message("Sign in by passkey.") forbid (principal, action == Action::"signIn", resource) unless { context.methods.contains("Passkey") };',
    );
    const refused = await person.tab.delete(`passkeys/${person.name}`).fails(409, 'Conflict');
    expect(refused.message).toContain('last one');
    const { body: second } = await (await register(service, person.tab)).answer.is(201);
    await person.tab.delete(`passkeys/${person.name}`).is(200);
    await person.tab.delete(`passkeys/${second.metadata.name}`).fails(409, 'Conflict');
    await rule('');
    await person.tab.delete(`passkeys/${second.metadata.name}`).is(200);
  });

  test('none is offered where the base URL is an IP address, as the start says', async () => {
    const numbered = await startTest({ flags: ['--base-url', 'http://127.0.0.1:9'] });
    await createClient(numbered, 'app');
    const { tab, I } = await begin(numbered);
    expect((await tab.get(I).is(200)).body.status.methods).toEqual(['EmailCode', 'EmailLink']);
    expect(numbered.logs.filter((line) => line.includes('passkeys are not offered'))).toHaveLength(
      1,
    );
    const named = await startTest();
    expect(named.logs.filter((line) => line.includes('passkeys are not offered'))).toEqual([]);
  });

  test('a stronger sign-in counts though it is made in the second of the weaker one', async () => {
    clock.own();
    const service = await startTest({
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    for (const name of ['app', 'bank']) await createClient(service, name);
    const { tab: operator } = await signIn(service, 'op@example.test');
    const standing = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    await operator
      .post('policies', {
        spec: {
          cedar: `${standing}\n@id("bank") @message("The bank wants a passkey.") forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.methods.contains("Passkey") };`,
        },
      })
      .is(201);
    const person = await withPasskey(service, 'ada@example.test');
    const [{ status }] = (await person.tab.get('sessions').is(200)).body.items;
    const bank = await begin(service, { client: 'bank', tab: person.tab });
    clock.advance(Date.parse(status.authenticationTimestamp) + 600 - Date.now());
    const { body } = await bank.tab
      .post(`${bank.I}/login`, await assertion(service, bank, person.authenticator))
      .is(200);
    expect((await proceed(bank.tab, body.status.returnTo)).searchParams.get('code')).toBeTruthy();
  });

  test('passkeys belong to one host: another base URL is taken only while there are none', async () => {
    const service = await startTest();
    const { relyingPartyID } = await import('../../../cmd/vestibule/serve/rp-id.js');
    await createClient(service, 'app');
    expect(await relyingPartyID(service.storage, 'https://login.localhost')).toBe('localhost');
    expect(await relyingPartyID(service.storage, 'https://id.example.test')).toBe(
      'id.example.test',
    );
    expect(await relyingPartyID(service.storage, 'http://localhost:1')).toBe('localhost');
    await withPasskey(service, 'ada@example.test');
    await expect(relyingPartyID(service.storage, 'https://id.example.test')).rejects.toThrow(
      'the passkeys in this store belong to localhost',
    );
    expect(await relyingPartyID(service.storage, 'http://localhost:2')).toBe('localhost');
  });
});
