import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { Session } from '../../kinds/people/session/session.js';
import { withClaims } from '../../provider/claims/disclosures.js';
import type { ObjectOf } from '../../registry/kind.js';
import { Chance } from '../faults/chance.js';
import { clock } from '../support/clock.js';
import { expectFor } from '../support/expect-for.js';
import { Endpoint } from '../support/network/endpoint.js';
import { confirm } from '../support/people/device.js';
import { begin, mailTo, proceed } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { until } from './support/fixture.js';

beforeAll(() => clock.own());
afterAll(async () => {
  clock.release();
  await stopAll();
});

const secret = 'secret-of-all-relying-parties';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
/**
 * What an ID token or a logout token says of itself (RFC 7519 §4.1, OpenID Connect Core §2), and no
 * person.
 */
const ofTheToken: ReadonlySet<string> = new Set([
  'iss',
  'aud',
  'exp',
  'iat',
  'nonce',
  'at_hash',
  'jti',
  'events',
]);
const all = ['openid', 'profile', 'email'];
const coarse = 300_000;
const second = 1_000;

/** When something was first and last received, in milliseconds since the epoch. */
interface Times {
  first: number;
  last: number;
}

/** A relying party that keeps a record of what it received. */
class RecordingParty {
  readonly name: string;
  claims = new Map<string, Times>();
  used: Times | undefined;
  tokens: { access_token: string; refresh_token?: string } | undefined;
  readonly #service: TestService;

  constructor(service: TestService, name: string) {
    this.#service = service;
    this.name = name;
  }

  received(claims: Iterable<string>, at = Date.now()): void {
    for (const claim of claims) {
      this.claims.set(claim, { first: this.claims.get(claim)?.first ?? at, last: at });
    }
  }

  post(path: string, values: Record<string, string>) {
    const authorization = `Basic ${Buffer.from(`${this.name}:${secret}`).toString('base64')}`;
    return this.#service.tab().send('POST', path, {
      plain: true,
      body: new URLSearchParams(values).toString(),
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    });
  }

  async token(values: Record<string, string>): Promise<void> {
    const { body } = await this.post('/oauth2/token', values).is(200);
    this.tokens = { refresh_token: this.tokens?.refresh_token, ...body };
    this.used = { first: this.used?.first ?? Date.now(), last: Date.now() };
    if (body.id_token) {
      this.received(
        Object.keys(jose.decodeJwt(body.id_token)).filter((claim) => !ofTheToken.has(claim)),
      );
    }
  }

  async userinfo(): Promise<void> {
    const { body } = await this.#service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${this.tokens!.access_token}` },
      })
      .is(200);
    this.received(Object.keys(body));
    this.used!.last = Date.now();
  }

  async introspect(): Promise<void> {
    const { body } = await this.post('/oauth2/introspect', { token: this.tokens!.access_token }).is(
      200,
    );
    expect(body.active).toBe(true);
    this.received(['sub', 'sid'].filter((claim) => body[claim] !== undefined));
    this.used!.last = Date.now();
  }

  forget(): void {
    this.tokens = undefined;
    this.used = undefined;
    this.claims = new Map();
  }
}

/** What the disclosures of a Grant say of each claim. */
function recordedBy(grant: ObjectOf<typeof Grant> | undefined): Map<string, Times> {
  return new Map(
    (grant?.status.disclosures ?? []).flatMap(({ claims, firstTimestamp, lastTimestamp }) =>
      claims.map((claim): [string, Times] => [
        claim,
        { first: Date.parse(firstTimestamp!), last: Date.parse(lastTimestamp) },
      ]),
    ),
  );
}

/**
 * Whether a recorded time is that of the event, in whole seconds and to within five minutes before
 * it.
 */
const fits = (recorded: number | undefined, real: number): boolean =>
  recorded !== undefined && recorded <= real + second && recorded >= real - coarse - second;

describe.each(stores)('the record of what was sent, over %s', (store) => {
  let service: TestService;
  let listener: Endpoint;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    listener = await new Endpoint().open();
  });
  afterAll(() => listener.close());

  const spec = (
    scopes: readonly string[],
    more: Partial<ClientSpec> = {},
  ): Partial<ClientSpec> => ({
    type: 'Confidential',
    secretHashes: [`sha256:${createHash('sha256').update(secret).digest('hex')}`],
    grantTypes: ['authorization_code', 'refresh_token', deviceGrant],
    scopes: [...scopes, 'offline_access'].map((name) => ({ name, required: name === 'openid' })),
    ...more,
  });

  /** One person, a browser, and the relying parties that record what they receive. */
  async function world(prefix: string) {
    const kinds: Record<string, Partial<ClientSpec>> = {
      reads: spec(all),
      wants: spec(all, { idTokenClaims: ['email', 'name'] }),
      pairs: spec(all, {
        subjectType: 'pairwise',
        grantTypes: ['authorization_code', 'refresh_token'],
      }),
      ours: spec(all, { firstParty: true }),
      hears: spec(all, { backchannelLogoutURI: listener.uri }),
    };
    const parties: RecordingParty[] = [];
    for (const [kind, fields] of Object.entries(kinds)) {
      await createClient(service, `${prefix}-${kind}`, fields);
      parties.push(new RecordingParty(service, `${prefix}-${kind}`));
    }
    return { parties, address: `${prefix}@example.test`, tab: service.tab() };
  }

  async function authorize(
    tab: Tab,
    party: RecordingParty,
    {
      scopes,
      address,
      agree,
      prompt,
    }: { scopes: readonly string[]; address: string; agree: readonly string[]; prompt: string },
  ): Promise<void> {
    const begun = await begin(service, {
      tab,
      client: party.name,
      scope: [...scopes, 'offline_access'].join(' '),
      parameters: { prompt },
    });
    const { body } = await tab.get(begun.I).is(200);
    const agreed = [...agree.filter((scope) => scopes.includes(scope)), 'offline_access'];
    let callback: URL;
    if (body.status.phase === 'LoginRequired') {
      await tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
      const { code } = await mailTo(service, address, [], (status) => status.code !== undefined);
      await service.tab().delete('mockmessages').is(200);
      const login = await tab
        .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
        .is(200);
      callback = await proceed(tab, login.body.status.returnTo, agreed);
    } else {
      const consent = await tab.post(`${begun.I}/consent`, { spec: { scopes: agreed } }).is(200);
      callback = new URL(
        (await tab.navigate(consent.body.status.returnTo).is(303)).headers.location!,
      );
    }
    await party.token({
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code')!,
      redirect_uri: 'https://app.example.test/callback',
      code_verifier: begun.verifier,
    });
  }

  async function connectDevice(tab: Tab, party: RecordingParty): Promise<void> {
    const { body } = await party.post('/oauth2/device/auth', { scope: 'openid email' }).is(200);
    await confirm(tab, body.verification_uri_complete);
    await party.token({ grant_type: deviceGrant, device_code: body.device_code });
  }

  /** Ends the session of a browser, and waits until every Client that asks for it is notified. */
  async function signOut(tab: Tab, parties: readonly RecordingParty[]): Promise<void> {
    const before = listener.tokens.length;
    const { name } = (await tab.get('sessions/~').is(200)).body.metadata;
    await tab.delete('sessions/~').is(200);
    await until(
      async () => (await service.store.reader(Session).get(name)) === undefined,
      'the end of the session',
    );
    for (const token of listener.tokens.slice(before)) {
      const payload = jose.decodeJwt(token);
      parties
        .find((party) => party.name === payload.aud)!
        .received(Object.keys(payload).filter((claim) => !ofTheToken.has(claim)));
    }
    for (const party of parties) {
      if (
        party.claims.size > 0 &&
        party.name.endsWith('hears') &&
        listener.tokens.length > before
      ) {
        party.used!.last = Date.now();
      }
    }
  }

  /**
   * Holds the Grants against what was received: no claim more or less, each with its scope, first
   * and last use.
   */
  async function compare(
    account: string,
    parties: readonly RecordingParty[],
    after: string,
  ): Promise<void> {
    for (const party of parties) {
      const grant = await service.store.reader(Grant).get(grantName(account, party.name));
      const recorded = recordedBy(grant);
      const wrong = [...party.claims].filter(
        ([claim, { first, last }]) =>
          !fits(recorded.get(claim)?.first, first) || !fits(recorded.get(claim)?.last, last),
      );
      const { firstUsedTimestamp: first, lastUsedTimestamp: last } = grant?.status ?? {};
      expect({
        after,
        party: party.name,
        claims: [...recorded.keys()].sort(),
        wrong,
        used: [first !== undefined, last !== undefined],
      }).toEqual({
        after,
        party: party.name,
        claims: [...party.claims.keys()].sort(),
        wrong: [],
        used: [party.used !== undefined, party.used !== undefined],
      });
      if (party.used) {
        expectFor(after, [
          fits(Date.parse(first!), party.used.first),
          fits(Date.parse(last!), party.used.last),
        ]).toEqual([true, true]);
      }
    }
  }

  test.each([1, 2])(
    'equals what a recording relying party received, in any order (%i)',
    async (seed) => {
      const chance = new Chance(seed);
      const pick = <T>(of: readonly T[]): T => of[chance.between(0, of.length - 1)]!;
      const some = (of: readonly string[]): string[] =>
        of.filter((scope) => scope === 'openid' || chance.next() < 0.6);
      const { parties, address, tab } = await world(`p${seed}`);
      let account = '';
      let isSignedIn = false;
      const enter = async (party: RecordingParty, prompt = 'consent'): Promise<void> => {
        await authorize(tab, party, { scopes: some(all), agree: some(all), address, prompt });
        isSignedIn = true;
        account ||= (await tab.get('accounts/~').is(200)).body.metadata.name;
      };
      const steps: Record<string, (party: RecordingParty) => Promise<void>> = {
        enter,
        refresh: (party) =>
          party.token({ grant_type: 'refresh_token', refresh_token: party.tokens!.refresh_token! }),
        userinfo: (party) => party.userinfo(),
        introspect: (party) => party.introspect(),
        async device(party) {
          await enter(party, 'login consent');
          await connectDevice(tab, party);
        },
        async revoke(party) {
          await party.post('/oauth2/revoke', { token: party.tokens!.refresh_token! }).is(200);
          party.tokens = undefined;
        },
        async withdraw(party) {
          await tab.delete(`grants/${grantName(account, party.name)}`).is(200);
          party.forget();
        },
        async signOut() {
          await signOut(tab, parties);
          isSignedIn = false;
        },
        wait: async () => clock.advance(chance.between(1_000, 700_000)),
      };
      const needsTokens = new Set(['refresh', 'userinfo', 'introspect', 'revoke']);
      const needsSession = new Set(['device', 'withdraw', 'signOut']);
      for (let i = 0; i < 30; i += 1) {
        const party = pick(parties);
        const step =
          i === 0
            ? 'enter'
            : pick([
                'enter',
                'enter',
                'refresh',
                'refresh',
                'userinfo',
                'userinfo',
                'introspect',
                'device',
                'revoke',
                'withdraw',
                'signOut',
                'wait',
                'wait',
                'wait',
              ]);
        if (
          (needsTokens.has(step) && !party.tokens) ||
          (needsSession.has(step) && !isSignedIn) ||
          (step === 'withdraw' && !party.used) ||
          (step === 'device' && party.name.endsWith('pairs'))
        ) {
          continue;
        }
        await steps[step]!(party);
        await compare(account, parties, `step ${i}: ${step} at ${party.name}`);
      }
      await enter(parties.find(({ name }) => name.endsWith('hears'))!);
      clock.advance(700_000);
      await signOut(tab, parties);
      await compare(account, parties, 'the last sign-out');
    },
    120_000,
  );
});

describe('what is added to the record', () => {
  const at = (minutes: number): number => Date.UTC(2026, 0, 1, 0, minutes);
  const claim = (name: string, scope = 'profile') => ({
    claim: name,
    scope,
    provider: 'vestibule',
  });

  test('is one entry of a scope while its claims leave together', () => {
    const first = withClaims([], [claim('name'), claim('website')], at(0))!;
    expect(withClaims(first, [claim('name')], at(4))).toBeUndefined();
    expect(withClaims(first, [claim('locale')], at(4))).toEqual([
      {
        scope: 'profile',
        provider: 'vestibule',
        claims: ['name', 'website', 'locale'],
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
      },
    ]);
    expect(withClaims(first, [claim('name')], at(6))).toEqual([
      {
        scope: 'profile',
        provider: 'vestibule',
        claims: ['name'],
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:06:00Z',
      },
      {
        scope: 'profile',
        provider: 'vestibule',
        claims: ['website'],
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
      },
    ]);
  });
});
