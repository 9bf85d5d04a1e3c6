import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { Recovery } from '../../../kinds/people/recovery/recovery.js';
import { Session } from '../../../kinds/people/session/session.js';
import { prefixRange } from '../../../storage/storage.js';
import { clock } from '../../support/clock.js';
import fc from '../../support/fast-check.js';
import { settles } from '../../support/patience.js';
import { Authenticator } from '../../support/people/authenticator.js';
import {
  askingOf,
  authenticated,
  passkeyLogin,
  register,
  signInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import { proceed, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(300_000);

const hour = 3_600_000;

/** What someone with the victim's mailbox does, and what its owner does, who has passkeys. */
const acts = [
  'thief signs in',
  'thief signs in',
  'thief registers',
  'thief registers in setup',
  'thief removes',
  'thief moves the address',
  'thief exports',
  'thief deletes',
  'thief recovers',
  'thief uses a passkey of their own',
  'thief stops a recovery',
  'owner signs in',
  'owner adds',
  'owner removes',
  'owner stops a recovery',
  'minutes pass',
  'hours pass',
] as const;
type Act = (typeof acts)[number];

/** One account, held by its owner's passkeys, and anyone who reads its mail. */
class Siege {
  readonly #service: TestService;
  readonly #address: string;
  readonly #keys: { name: string; authenticator: Authenticator }[];
  readonly #stolen: Authenticator[] = [];
  readonly #account: string;
  #thief: Tab | undefined;
  #owner: Tab | undefined;

  constructor(
    service: TestService,
    address: string,
    {
      account,
      name,
      authenticator,
    }: { account: string; name: string; authenticator: Authenticator },
  ) {
    this.#service = service;
    this.#address = address;
    this.#account = account;
    this.#keys = [{ name, authenticator }];
  }

  async does(act: Act): Promise<void> {
    const thief = this.#thief;
    switch (act) {
      case 'thief signs in': {
        await this.#emptied();
        const signed = await signIn(this.#service, this.#address);
        this.#thief = signed.tab;
        return this.#claims(signed);
      }
      case 'thief registers':
        return thief && this.#registers(thief, 'accounts/~', 'passkeys');
      case 'thief registers in setup': {
        await this.#emptied();
        const { tab, I } = await authenticated(this.#service, this.#address);
        await this.#registers(tab, I, `${I}/passkeys`);
        await proceed(tab, (await tab.get(I).is(200)).body.status.returnTo);
        this.#thief = tab;
        return;
      }
      case 'thief removes':
        if (thief) for (const { name } of this.#keys) await thief.delete(`passkeys/${name}`);
        return;
      case 'thief moves the address': {
        if (!thief) return;
        await thief.post('accounts/~/emailchallenge', {
          spec: { email: `thief-${this.#address}` },
        });
        const found = (await this.#service.tab().get('mockmessages').is(200)).body.items.find(
          ({ status }: any) => status.to === `thief-${this.#address}`,
        );
        if (found) await thief.post('accounts/~/email', { spec: { code: found.status.code } });
        return;
      }
      case 'thief exports':
        if (thief) expect((await thief.get('accounts/~/export')).code).toBeGreaterThanOrEqual(401);
        return;
      case 'thief deletes':
        if (thief) await thief.delete('accounts/~');
        return;
      case 'thief recovers':
        if (thief) await thief.post('accounts/~/recovery', { spec: {} });
        return;
      case 'thief stops a recovery':
        return thief && this.#stops(thief);
      case 'thief uses a passkey of their own':
        for (const one of this.#stolen) {
          expect((await (await passkeyLogin(this.#service, one)).answer).code).toBe(422);
        }
        return;
      case 'owner signs in': {
        const signed = await signInByPasskey(this.#service, this.#keys[0]!.authenticator);
        this.#owner = signed.tab;
        return expect((await this.#idTokenClaims(signed)).acr).toBe('phr') as void;
      }
      case 'owner adds': {
        await this.does('owner signs in');
        const { authenticator, answer } = await register(this.#service, this.#owner!);
        this.#keys.push({ name: (await answer.is(201)).body.metadata.name, authenticator });
        return;
      }
      case 'owner removes': {
        if (this.#keys.length < 2) return;
        await this.does('owner signs in');
        await this.#owner!.delete(`passkeys/${this.#keys.pop()!.name}`).is(200);
        clock.advance(2_000);
        return;
      }
      case 'owner stops a recovery':
        await this.does('owner signs in');
        return this.#stops(this.#owner!);
      case 'minutes pass':
        clock.advance(7 * 60_000);
        return;
      case 'hours pass': // an owner who looks once in a day finds everything that waits
        await this.does('owner stops a recovery');
        clock.advance(23 * hour);
        return;
    }
  }

  /** What has to hold after every act. */
  async holds(): Promise<void> {
    const account = await this.#service.store.reader(Account).get(this.#account);
    expect(account!.status.email.address).toBe(this.#address);
    expect(account!.metadata.deletionTimestamp).toBeUndefined();
    expect(
      (await this.#service.store.reader(Passkey).list(this.#account))
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(this.#keys.map(({ name }) => name).sort());
    expect(
      (await this.#service.store.reader(Recovery).list(this.#account)).filter(
        ({ status }) => status.phase === 'Completed',
      ),
    ).toEqual([]);
    for (const { status } of await this.#service.store.reader(Session).list(this.#account)) {
      expect(status.assurance === 'phr').toBe(status.methods.includes('Passkey'));
    }
  }

  async #registers(tab: Tab, at: string, path: string): Promise<void> {
    const answer = await tab.post(`${at}/passkeychallenge`, { spec: { purpose: 'Register' } });
    const options =
      answer.code === 201
        ? answer.body.status.options
        : { challenge: 'x'.repeat(43), rp: { id: 'localhost' }, user: { id: 'x' } };
    const own = new Authenticator();
    this.#stolen.push(own);
    await tab.post(path, {
      spec: { credential: own.create(askingOf(this.#service, options), {}, options.user.id) },
    });
    own.userHandle ??= options.user.id;
  }

  async #stops(tab: Tab): Promise<void> {
    const { code, body } = await tab.get('recoveries');
    if (code !== 200) return;
    for (const { metadata, status } of body.items) {
      if (status.phase === 'Waiting') await tab.delete(`recoveries/${metadata.name}`).is(200);
    }
  }

  async #claims(signed: Parameters<typeof redeem>[1]): Promise<void> {
    const { acr, amr } = await this.#idTokenClaims(signed);
    expect(acr).not.toBe('phr');
    expect(amr).not.toContain('mfa');
  }

  async #idTokenClaims(signed: Parameters<typeof redeem>[1]): Promise<any> {
    return JSON.parse(
      Buffer.from(
        (await redeem(this.#service, signed)).body.id_token.split('.')[1],
        'base64url',
      ).toString(),
    );
  }

  /** Once no mail is on its way any more: the next one is the one with the code. */
  async #emptied(): Promise<void> {
    const onTheirWay = async (): Promise<number> =>
      (await this.#service.storage.list(prefixRange('outbox/mail/'))).entries.length;
    await settles(onTheirWay, (count) => count === 0);
    await this.#service.tab().delete('mockmessages').is(200);
    clock.advance(2_000);
  }
}

describe.each(stores)('a mailbox alone, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  test('never reaches phr or what passkeys hold, by any acts in any order', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...acts), { minLength: 8, maxLength: 16 }),
        async (tried) => {
          const address = `m${(number += 1)}-${store}@example.test`;
          await service.tab().delete('mockmessages').is(200);
          const siege = new Siege(service, address, await withPasskey(service, address));
          for (const act of tried) {
            await siege.does(act);
            await siege.holds();
          }
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
