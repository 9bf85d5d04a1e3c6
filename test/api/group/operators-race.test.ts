import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import { type Answer, Pending, type Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'root@example.test', '--limit-factor', '1000'];
const group = 'operators';
const displayName = 'Operators';
const root = 'root@example.test';

/** An operator, who acts on one replica. */
interface Rival {
  readonly tab: Tab;
  readonly address: string;
  readonly account: string;
}

/** Every way for one operator to take the rights of another. */
const ways: Record<string, (own: Rival, other: Rival) => Pending> = {
  'a merge patch of the group': ({ tab, address }) =>
    tab.patch(`groups/${group}`, { spec: { members: [root, address] } }),
  'an update of the group': ({ tab, address }) =>
    new Pending(
      tab.get(`groups/${group}`).then(({ body }) =>
        tab.put(`groups/${group}`, {
          ...body,
          spec: { ...body.spec, members: [root, address] },
        }),
      ),
    ),
  'a JSON patch of the group': ({ tab }, other) =>
    tab.patch(
      `groups/${group}`,
      [{ op: 'replace', path: '/spec/members', value: [root, `not-${other.address}`] }],
      { headers: { 'content-type': 'application/json-patch+json' } },
    ),
  'disabling the account': ({ tab }, { account }) =>
    tab.post(`accounts/${account}/disable`, { spec: {} }),
  'deleting the account': ({ tab }, { account }) => tab.delete(`accounts/${account}`),
};
const names = Object.keys(ways);
const pairs = names.flatMap((name, i) => names.slice(i).map((other) => [name, other] as const));
const rounds = 4;

describe.each(stores)('two operators who take each other’s rights at once, on %s', (store) => {
  let services: [TestService, TestService];
  let operator: Tab;
  let count = 0;
  beforeAll(async () => {
    const service = await startTest({ store, flags });
    await createClient(service, 'app');
    services = [service, await service.replica()];
    operator = (await signIn(service, root)).tab;
    const spec = { displayName, members: [root] };
    await operator.post('groups', { metadata: { name: group }, spec }).is(201);
    const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const cedar = `${first}
@id("all-make-groups") permit (principal is Account, action == Action::"create", resource is Group);`;
    await operator.post('policies', { spec: { cedar } }).is(201);
  });

  /** Two new operators, each on a replica of their own. */
  async function rivals(): Promise<[Rival, Rival]> {
    count += 1;
    const addresses = [`a${count}@example.test`, `b${count}@example.test`];
    const members = [root, ...addresses];
    await operator.patch(`groups/${group}`, { spec: { members, temporaryMembers: [] } }).is(200);
    const found: Rival[] = [];
    for (const [i, service] of services.entries()) {
      const { tab } = await signIn(services[0], addresses[i]!);
      const account = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
      const own = service.tab();
      own.cookies = tab.cookies;
      await own.get('accounts').is(200);
      found.push({ tab: own, address: addresses[i]!, account });
    }
    return found as [Rival, Rival];
  }

  test.each(pairs)('by %s and %s: one wins', async (way, other) => {
    for (let round = 0; round < rounds; round += 1) {
      const [a, b] = await rivals();
      const answers = await Promise.all([ways[way]!(a, b), ways[other]!(b, a)]);
      const codes = answers.map(({ code }) => code);
      const won = codes.filter((code) => code < 300);
      expect(won).toHaveLength(1);
      expect([401, 403, 404, 409]).toContain(codes.find((code) => code >= 300));
    }
  });

  test('deletes no more of a collection when the rights are gone', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const [a, b] = await rivals();
      const victim = `victim${count}@example.test`;
      const { tab } = await signIn(services[0], victim);
      const account = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
      for (let i = 0; i < 12; i += 1) await signIn(services[0], victim);
      const range = `sessions?fieldSelector=status.account=${account}`;
      const { metadata } = (await operator.get(range).is(200)).body;
      const since = `${range}&watch=true&resourceVersion=${metadata.resourceVersion}`;
      const watch = new Stream(operator, since);
      const [deletion, change] = await Promise.all([
        b.tab.delete(range),
        ways['a merge patch of the group']!(a, b).is(200),
      ]);
      const { items } = (await operator.get(range).is(200)).body;
      if (deletion.code === 200) {
        expect(items).toHaveLength(0);
      } else {
        expect([401, 403, 409]).toContain(deletion.code);
      }
      await watch.until(({ events }) => events.length === 13 - items.length);
      watch.close();
      const ended = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
      const changed = Number(change.body.metadata.resourceVersion);
      expect(ended.filter((revision) => revision > changed)).toEqual([]);
    }
  });

  test('a person without a group changes nothing once the account is disabled', async () => {
    for (let round = 0; round < 2 * rounds; round += 1) {
      const { tab } = await signIn(services[0], `person${round}@example.test`);
      const account = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
      const own = services[1].tab();
      own.cookies = tab.cookies;
      await own.get('accounts/~').is(200);
      const ask = (i: number) =>
        own.post('groups', { metadata: { name: `g${round}-${i}` }, spec: { displayName: 'G' } });
      const answers: PromiseLike<Answer>[] = [ask(0)];
      const disabled = operator.post(`accounts/${account}/disable`, { spec: {} }).is(200);
      const isOver = disabled.then(() => true);
      for (let i = 1; !(await Promise.race([isOver, setImmediate(false)])); i += 1) {
        answers.push(ask(i));
      }
      const end = Number((await disabled).body.metadata.resourceVersion);
      const all = await Promise.all(answers);
      const made = all.filter(({ code }) => code === 201);
      const revisions = made.map(({ body }) => Number(body.metadata.resourceVersion));
      expect(revisions.filter((revision) => revision > end)).toEqual([]);
      for (const { code } of all) expect([201, 401, 403, 409]).toContain(code);
    }
  });

  test('who is in very many groups changes things, and who they invite signs in', async () => {
    const [many, guest] = ['many@example.test', 'guest-of-many@example.test'];
    for (let i = 0; i < 110; i += 1) {
      const spec = { displayName: `G${i}`, members: [many] };
      await operator.post('groups', { metadata: { name: `g${i}` }, spec }).is(201);
    }
    await operator.patch(`groups/${group}`, { spec: { members: [root, many] } }).is(200);
    const { tab } = await signIn(services[0], many);
    await tab.patch('accounts/~', { spec: { displayName: 'Many' } }).is(200);
    const spec = { email: guest, groups: ['g0'] };
    await tab.post('invitations', { metadata: { name: 'of-many' }, spec }).is(201);
    await signIn(services[0], guest);
    const { body } = await operator.get('invitations/of-many').is(200);
    expect(body.status.phase).toBe('Accepted');
    await tab.delete('sessions/~').is(200);
  });

  test('a change that loses a race for another reason succeeds at its next try', async () => {
    const [a, b] = await rivals();
    const labels = (name: string) => ({ metadata: { labels: { [name]: 'yes' } } });
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([
        a.tab.patch(`groups/${group}`, labels(`a${round}`)).is(200),
        b.tab.patch(`groups/${group}`, labels(`b${round}`)).is(200),
      ]);
    }
    const { body } = await operator.get(`groups/${group}`).is(200);
    expect(Object.keys(body.metadata.labels)).toHaveLength(2 * rounds);
  });
});
