import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Entry } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { expectFor } from '../support/expect-for.js';
import { type Answer, Tab } from '../support/people/tab.js';
import { seed } from '../support/random.js';
import { isQuick } from '../support/stores.js';
import { Chance } from './chance.js';
import { everythingIn, halves, objectsOf } from './coherence.js';
import { Mailbox } from './mailbox.js';
import { Person } from './person.js';
import { Served } from './served.js';

const signIns = isQuick ? 60 : 200;
const atOnce = 10;

/**
 * On etcd, too, by hand: `FAULTS=all`. What it is about there, test/faults/history does in short.
 */
const stores =
  process.env['FAULTS'] === 'all' ? (['embedded', 'etcd'] as const) : (['embedded'] as const);

describe.each(stores)(`kill -9 during ${signIns} sign-ins on %s, seed ${seed}`, (store) => {
  const chance = new Chance(seed);
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-kill-'));
  let etcd: EtcdServer | undefined;
  let served: Served;
  let mailbox: Mailbox;
  let people: Person[];

  /** Kills it after so many further requests, and so many milliseconds. */
  let due = chance.between(90, 260);
  let killing = false;
  const sent = (): void => {
    if (killing || (due -= 1) > 0) return;
    killing = true;
    setTimeout(
      () => {
        served.kill();
        due = chance.between(90, 260);
        killing = false;
      },
      chance.between(0, 25),
    );
  };

  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    served = etcd
      ? (await Served.replicas(1, directory, etcd.endpoint, ''))[0]!
      : await Served.start(directory);
    mailbox = new Mailbox(served);
    people = Array.from(
      { length: signIns },
      (_, i) => new Person({ served, mailbox, sent }, i, chance),
    );
    const waiting = [...people];
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await next.signIn();
      }),
    );
    due = Infinity;
    served.kill();
    await served.up();
    const sum = (of: (person: Person) => number): number =>
      people.reduce((total, person) => total + of(person), 0);
    process.stderr.write(
      `seed ${seed}: ${served.kills} kills, ${sum(({ cuts }) => cuts)} answers cut off, ${sum(({ witnessed }) => witnessed.length)} interactions, ${sum(({ mailsLost }) => mailsLost)} mails lost\n`,
    );
  }, 480_000);

  afterAll(async () => {
    mailbox?.close();
    await served?.end();
    await etcd?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const tab = (): Tab => new Tab(served.url, served.baseURL);
  const each = async (check: (person: Person) => Promise<void>): Promise<void> => {
    for (const person of people) await check(person);
  };
  const token = (fields: Record<string, string>): PromiseLike<Answer> =>
    tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({ client_id: 'app', ...fields }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const userinfo = (access: string): PromiseLike<Answer> =>
    tab().get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${access}` } });

  test('it was killed often, in the middle of requests, and each start came up', () => {
    expect(served.kills).toBeGreaterThanOrEqual((15 * signIns) / 200);
    expect(people.reduce((total, { cuts }) => total + cuts, 0)).toBeGreaterThan(signIns / 20);
    expect(served.complaints).not.toMatch(/"level":"(error|fatal)"/);
  });

  test('everybody has one account, and at most one mail came for each challenge', () => {
    expect(people.filter(({ accounts }) => accounts.size !== 1)).toEqual([]);
    expect(new Set(people.flatMap(({ accounts }) => [...accounts])).size).toBe(signIns);
    expect([...mailbox.counts].filter(([, mails]) => mails !== 1)).toEqual([]);
  });

  test('every interaction is where it was acknowledged to be, its code used', () =>
    each(async (person) => {
      for (const seen of person.witnessed) {
        await person.look(seen);
        if (seen.code) {
          await seen.tab
            .post(`${seen.path}/login`, { spec: { method: 'EmailCode', code: seen.code } })
            .fails(410, 'Expired');
        }
      }
    }));

  test('every access token acknowledged last still opens what it opened', () =>
    each(async ({ tokens, address, displayName }) => {
      const answer = await userinfo(tokens!.access);
      expectFor(address, [answer.code, answer.body]).toEqual([
        200,
        expect.objectContaining({ email: address, name: displayName }),
      ]);
    }));

  test('a used code or refresh token stays used, and its second use ends its grant', () =>
    each(async ({ tokens, spentRefresh }) => {
      const { code, verifier, access, refresh, redeemed } = tokens!;
      const spent = spentRefresh.at(-1);
      const remembered = spent !== undefined || Date.now() - redeemed < 50_000;
      const again = await token(
        spent
          ? { grant_type: 'refresh_token', refresh_token: spent }
          : {
              grant_type: 'authorization_code',
              code,
              redirect_uri: 'https://app.example.test/callback',
              code_verifier: verifier,
            },
      );
      if (spent !== undefined && again.code === 200) {
        // Within thirty seconds it gets the answer of before, and nothing new.
        expect([again.body.access_token, again.body.refresh_token]).toEqual([access, refresh]);
        return;
      }
      expect([again.code, again.body.error]).toEqual([400, 'invalid_grant']);
      if (remembered) expect((await userinfo(access)).code).toBe(401);
    }));

  describe('in the store', () => {
    let entries: ReadonlyMap<string, Entry>;
    beforeAll(async () => {
      await served.end();
      entries = await everythingIn(() =>
        etcd
          ? openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' })
          : openEmbedded({ directory: join(directory, 'store') }),
      );
    });

    test('nothing stands without its other half', () => {
      expect(halves(directory, entries)).toEqual([]);
    });

    test('there is one Account for each address, and one Grant', () => {
      const accounts = objectsOf(entries, 'accounts') as {
        metadata: { name: string };
        spec: any;
        status: any;
      }[];
      expect(
        accounts
          .map(({ metadata, spec, status }) => [
            status.email.address,
            metadata.name,
            spec.displayName,
          ])
          .sort(),
      ).toEqual(
        people
          .map(({ address, accounts: [name], displayName }) => [address, name, displayName])
          .sort(),
      );
      expect(
        objectsOf(entries, 'grants')
          .map(({ metadata }) => metadata.name)
          .sort(),
      ).toEqual(people.map(({ accounts: [name] }) => `${name}-app`).sort());
    });
  });
});
