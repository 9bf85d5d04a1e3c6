import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { expectFor } from '../support/expect-for.js';
import { seed } from '../support/random.js';
import { temporary } from '../support/service.js';
import { isQuick, stores } from '../support/stores.js';
import { Chance } from './chance.js';
import { everythingIn, halves, objectsOf } from './coherence.js';
import { Mailbox } from './mailbox.js';
import { Person } from './person.js';
import { Served } from './served.js';

jest.setTimeout(300_000);

const former = isQuick ? undefined : toolProgram('former');
const tree = join(import.meta.dirname, '../../bin/vestibule');

/** People who sign in while one release takes the place of another, at each replica in turn. */
const signInsPerRoll = 6;

const upgrades = former ? describe.each(stores) : describe.skip.each(stores);
upgrades('from the former release to this one and back, on %s', (store) => {
  const chance = new Chance(seed);
  const directory = temporary();
  let etcd: EtcdServer | undefined;
  let replicas: readonly Served[] = [];
  let mailboxes: readonly Mailbox[] = [];
  const people: Person[] = [];
  const rolls = { isOver: false };

  beforeAll(async () => {
    etcd = store === 'etcd' ? await startEtcd() : undefined;
    replicas = etcd
      ? await Served.replicas(2, directory, etcd.endpoint, '', undefined, undefined, former)
      : [await Served.start(directory, {}, { program: former })];
    mailboxes = replicas.map((replica) => new Mailbox(replica));
  });
  afterAll(async () => {
    for (const mailbox of mailboxes) mailbox.close();
    for (const replica of replicas) await replica.end();
    await etcd?.stop();
  });

  /** Lets one person after the other sign in at a replica until the rolls are over. */
  async function crowdAt(replica: number): Promise<void> {
    while (!rolls.isOver) {
      const world = { served: replicas[replica]!, mailbox: mailboxes[replica]!, sent: () => {} };
      const person = new Person(world, people.length, chance);
      people.push(person);
      await person.signIn();
    }
  }

  /** Stops each replica in turn, after some sign-ins, and starts it again as another release. */
  async function rollTo(program: string): Promise<void> {
    for (const replica of replicas) {
      const before = people.length;
      while (people.length < before + signInsPerRoll) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(await replica.stop()).toBe(0);
      await replica.again(program);
    }
  }

  /** Every access token that was acknowledged opens what it opened, at every replica. */
  async function everyTokenOpens(): Promise<void> {
    for (const replica of replicas) {
      for (const { address, displayName, tokens } of people) {
        const answer = await replica.tab().get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${tokens!.access}` },
        });
        expectFor(address, [answer.code, answer.body]).toEqual([
          200,
          expect.objectContaining({ email: address, name: displayName }),
        ]);
      }
    }
  }

  test('people sign in all the while, and nothing that was acknowledged is lost', async () => {
    const crowds = [0, 1, 2, 3].map((i) => crowdAt(i % replicas.length));
    const rollAll = async (): Promise<void> => {
      for (const program of [tree, former!, tree]) await rollTo(program);
    };
    const rolled = rollAll().finally(() => {
      rolls.isOver = true;
    });
    await Promise.all([rolled, ...crowds]);
    await everyTokenOpens();
    for (const replica of replicas) {
      expect(await replica.stop()).toBe(0);
      await replica.again(former!);
    }
    await everyTokenOpens();
    for (const { complaints } of replicas) {
      expect(complaints).not.toMatch(/"level":"(error|fatal)"/);
    }
  });

  test('each person has one Account and one Grant, and nothing lacks its other half', async () => {
    for (const replica of replicas) await replica.stop();
    const entries = await everythingIn(() =>
      etcd
        ? openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' })
        : openEmbedded({ directory: join(directory, 'store') }),
    );
    expect(halves(directory, entries)).toEqual([]);
    const names = (resource: string): string[] =>
      objectsOf(entries, resource)
        .map(({ metadata }) => metadata.name)
        .sort();
    const accounts = people.map(({ accounts: [name] }) => name!);
    expect(people.filter(({ accounts }) => accounts.size !== 1)).toEqual([]);
    expect(names('accounts')).toEqual(accounts.sort());
    expect(names('grants')).toEqual(accounts.map((name) => `${name}-app`).sort());
  });
});
