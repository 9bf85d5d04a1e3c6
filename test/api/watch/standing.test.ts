import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '../../../kinds/apps/client/client.js';
import { Grant } from '../../../kinds/apps/grant.js';
import { Group } from '../../../kinds/people/group/group.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { settles } from '../../support/patience.js';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

/** Five seconds are promised; a busy machine is given as many again to notice. */
const soon = 10_000;

interface Person {
  readonly tab: Tab;
  readonly elsewhere: Tab;
  readonly name: string;
  readonly address: string;
}

describe.each(stores)('who may watch, and what, on %s', (store) => {
  let service: TestService;
  let replica: TestService;
  let operator: Person;
  let policy: string;
  let met = 0;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    replica = await service.replica();
    await createClient(service, 'app');
    operator = await person('op@example.test');
    const bystanders = {
      metadata: { name: 'bystanders' },
      spec: { displayName: 'B', members: [] },
    };
    await operator.tab.post('groups', bystanders).is(201);
    policy = (await operator.tab.get('policies/p-1').is(200)).body.spec.cedar;
  });
  afterAll(stopAll);

  /** Someone new who is signed in, as both replicas see their browser. */
  async function person(address = `p${(met += 1)}@example.test`): Promise<Person> {
    const { tab } = await signIn(service, address);
    const elsewhere = Object.assign(replica.tab(), { cookies: tab.cookies });
    return {
      tab,
      elsewhere,
      address,
      name: (await tab.get('accounts/~').is(200)).body.metadata.name,
    };
  }

  /** What someone has open at the other replica of the kinds that people own. */
  const open = async (
    { elsewhere }: Person,
    kinds = ['sessions', 'accounts', 'grants', 'passkeys'],
  ): Promise<Stream[]> =>
    Promise.all(
      kinds.map((kind) =>
        new Stream(elsewhere, `${kind}?watch=true&allowWatchBookmarks=true`).until(
          ({ code, events }) => code === 200 && (kind === 'passkeys' || events.length > 0),
        ),
      ),
    );
  /** Expects that everything received is of this account. */
  const isOwn = (streams: readonly Stream[], { name }: Person): void => {
    for (const { object } of streams.flatMap(({ events }) => events)) {
      if (object.metadata.name !== undefined) expect(object.metadata.name.split('-')[0]).toBe(name);
    }
  };
  const ends = async (streams: readonly Stream[]): Promise<void> => {
    await Promise.all(streams.map((stream) => stream.until(({ ended }) => ended, soon)));
  };
  const law = async (cedar: string): Promise<void> => {
    await operator.tab.post('policies', { spec: { cedar } }).is(201);
  };

  describe('a watch ends, and has sent nothing of another account, once', () => {
    const ways: Record<string, (of: Person) => Promise<unknown>> = {
      'its session is ended at another replica': ({ tab }) => tab.delete('sessions/~').is(200),
      'its session is ended by an operator': async ({ tab }) =>
        operator.tab
          .delete(`sessions/${(await tab.get('sessions/~').is(200)).body.metadata.name}`)
          .is(200),
      'its account is disabled': ({ name }) =>
        operator.tab.post(`accounts/${name}/disable`, {}).is(200),
      'its account is deleted': ({ tab }) => tab.delete('accounts/~').is(200),
    };

    test(`${Object.keys(ways).join(', or ')}`, async () => {
      const staying = await person();
      const others = await open(staying);
      const all: { what: string; leaving: Person; theirs: Stream[] }[] = [];
      for (const what of Object.keys(ways)) {
        const leaving = await person();
        all.push({ what, leaving, theirs: await open(leaving) });
      }
      await person();
      await Promise.all(
        all.map(async ({ what, leaving, theirs }) => {
          await ways[what]!(leaving);
          await ends(theirs).catch((error: unknown) => {
            throw new Error(what, { cause: error });
          });
          isOwn(theirs, leaving);
          for (const kind of ['sessions', 'grants']) {
            await leaving.elsewhere.get(`${kind}?watch=true`).fails(401, 'Unauthorized');
          }
        }),
      );
      isOwn(others, staying);
      for (const other of others) {
        expect(other.ended).toBe(false);
        other.close();
      }
    });

    test('the grant behind its token is withdrawn', async () => {
      const { tab, elsewhere, name } = await person();
      const token = await tokenOf(service, tab);
      const stream = await new Stream(
        replica.tab(),
        'sessions?watch=true',
        'application/json',
        token,
      ).until(({ events }) => events.length > 0);
      const mine = await new Stream(
        Object.assign(elsewhere, { cookies: tab.cookies }),
        'sessions?watch=true',
      ).until(({ events }) => events.length > 0);
      await tab.delete(`grants/${name}-vestibule`).is(200);
      await ends([stream]);
      expect(mine.ended).toBe(false);
      mine.close();
    });

    test('the policy no longer permits it, and no other watch does', async () => {
      const one = await person();
      const [sessions, grants] = (await open(one, ['sessions', 'grants'])) as [Stream, Stream];
      await law(
        `${policy}\nforbid (principal is Account, action == Action::"watch", resource is Session);\n`,
      );
      await ends([sessions]);
      await one.elsewhere.get('sessions?watch=true').fails(403, 'Forbidden');
      expect(grants.ended).toBe(false);
      await law(policy);
      let again: Stream;
      do {
        again = await new Stream(one.elsewhere, 'sessions?watch=true').until(
          ({ code }) => code !== 0,
        );
      } while (again.code === 403);
      await again.until(({ events }) => events.length > 0);
      for (const watch of [again, grants]) watch.close();
    });

    test('who watches is no longer in the group that may', async () => {
      const one = await person();
      await operator.tab
        .post('groups', {
          metadata: { name: 'operators' },
          spec: { displayName: 'Operators', members: [one.address, operator.address] },
        })
        .is(201);
      const [groups, sessions] = (await open(one, ['groups', 'sessions'])) as [Stream, Stream];
      await operator.tab
        .patch('groups/operators', { spec: { members: [operator.address] } })
        .is(200);
      await ends([groups, sessions]);
      await one.elsewhere.get('groups?watch=true').fails(403, 'Forbidden');
      await operator.tab.delete('groups/operators').is(200);
    });
  });

  describe('a watch sends nothing that follows, once', () => {
    const body = (members: string[], temporaryMembers: object[] = []) => ({
      metadata: { name: 'operators' },
      spec: { displayName: 'Operators', members, temporaryMembers },
    });
    const forbidding = (): string =>
      `${policy}\nforbid (principal is Account, action == Action::"watch", resource is Client);\n`;
    afterEach(async () => {
      clock.release();
      await operator.tab.delete('groups/operators');
    });

    const change = (kind: typeof Group | typeof Client, name: string, displayName: string) =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.update(kind as typeof Group, name, (next) => {
          next.spec.displayName = displayName;
        }),
      );

    type Ending = (of: Person, token: string | undefined) => unknown;
    const byEither: Record<string, Ending> = {
      'they are no longer in the group': () =>
        operator.tab.patch('groups/operators', { spec: { members: [operator.address] } }).is(200),
      'the group is gone': () => operator.tab.delete('groups/operators').is(200),
      'their membership is over': () => clock.advance(301_000),
      'their membership is over, and a Group changes': async () => {
        clock.advance(301_000);
        await change(Group, 'bystanders', `Changed by ${Date.now()}`);
      },
      'their account is disabled': ({ name }) =>
        operator.tab.post(`accounts/${name}/disable`, {}).is(200),
      'their account is deleted': ({ tab }) => tab.delete('accounts/~').is(200),
      'the policy is replaced': () => law(forbidding()),
    };
    const byCookie: Record<string, Ending> = {
      'their session is ended': ({ tab }) => tab.delete('sessions/~').is(200),
      'their session has expired': () => clock.advance(400 * 86_400_000),
    };
    const byToken: Record<string, Ending> = {
      'their grant is withdrawn': ({ tab, name }) => tab.delete(`grants/${name}-vestibule`).is(200),
      'their token is revoked': (_, token) =>
        service.tab().send('POST', '/oauth2/revoke', {
          plain: true,
          body: new URLSearchParams({ client_id: 'vestibule', token: token! }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      'their token has expired': () => clock.advance(3_700_000),
    };
    const cases = [
      ...Object.entries({ ...byEither, ...byCookie }).map((one) => ['cookie', ...one] as const),
      ...Object.entries({ ...byEither, ...byToken }).map((one) => ['token', ...one] as const),
    ];

    test.each(cases)('by %s: %s', async (by, what, end) => {
      clock.own();
      const one = await person();
      const until = new Date(Date.now() + 300_000).toISOString().replace(/\.\d+/, '');
      const isTemporary = what.startsWith('their membership is over');
      const temporary = isTemporary ? [{ email: one.address, until }] : [];
      const members = [operator.address, ...(isTemporary ? [] : [one.address])];
      await operator.tab.post('groups', body(members, temporary)).is(201);
      const name = `seen-${one.name}`;
      await createClient(service, name);
      const token = by === 'token' ? await tokenOf(service, one.tab) : undefined;
      const stream = await new Stream(
        token === undefined ? one.elsewhere : replica.tab(),
        'clients?watch=true',
        'application/json',
        token,
      ).until(({ events }) => events.some(({ object }) => object.metadata.name === name));
      const known = stream.events.length;
      await end(one, token);
      for (let i = 0; i < 5; i += 1) await change(Client, name, `Again ${i}`);
      await ends([stream]);
      const sent = stream.events.slice(known).map(({ object }) => object.metadata.name);
      expect(sent).not.toContain(name);
      clock.release();
      if (what === 'the policy is replaced') await law(policy);
    });
  });

  test('an account has a ceiling of watches, and so have all persons', async () => {
    const limited = await startTest({
      store,
      flags: [
        '--limits-watches-per-session=3',
        '--limits-watches-per-account=4',
        '--limits-watches-of-persons=100',
        '--limit-factor=10000',
      ],
    });
    await createClient(limited, 'app');
    const open = (tab: Tab) =>
      new Stream(tab, 'sessions?watch=true').until(({ code }) => code !== 0);
    const tabs = [];
    for (let i = 0; i < 2; i += 1) tabs.push((await signIn(limited, 'ada@example.test')).tab);
    const codes: number[] = [];
    const streams: Stream[] = [];
    for (const tab of [...Array(4).fill(tabs[0]), ...Array(3).fill(tabs[1])] as Tab[]) {
      const stream = await open(tab);
      codes.push(stream.code);
      streams.push(stream);
    }
    expect(codes).toEqual([200, 200, 200, 429, 200, 429, 429]);
    for (let i = 0; streams.filter(({ code }) => code === 200).length < 100; i += 1) {
      const { tab } = await signIn(limited, `p${i}@example.test`);
      for (let watch = 0; watch < 3; watch += 1) streams.push(await open(tab));
    }
    const last = (await signIn(limited, 'last@example.test')).tab;
    expect((await open(last)).code).toBe(429);
    for (const stream of streams) stream.close();
    await settles(
      () => open(last),
      ({ code }) => code === 200,
    );
  });

  test('a policy that hides one object hides its changes from a watch that goes on', async () => {
    const scope = (name: string) => ({
      name,
      title: name,
      description: 'For tests.',
      claims: [{ name: `${name}_claim`, title: 'Claim', type: 'string' }],
    });
    for (const name of ['hidden', 'shown']) {
      await operator.tab
        .post('claimsproviders', {
          metadata: { name },
          spec: {
            displayName: name,
            reviewURI: 'https://supplier.example.test/',
            scopes: [scope(name)],
          },
        })
        .is(201);
    }
    const one = await person();
    const [stream, byOperator] = (await Promise.all(
      [one, operator].map(async (one) => (await open(one, ['claimsproviders']))[0]!),
    )) as [Stream, Stream];
    for (const watch of [stream, byOperator]) {
      await watch.until(({ events }) => events.length === 3);
    }
    await law(
      `${policy}\nforbid (principal, action in Action::"read", resource == ClaimsProvider::"hidden") unless { principal in Group::"operators" };\n`,
    );
    await settles(
      () => one.elsewhere.get('claimsproviders/hidden'),
      ({ code }) => code === 404,
    );
    for (const name of ['hidden', 'shown']) {
      await operator.tab
        .patch(`claimsproviders/${name}`, { spec: { displayName: 'changed' } })
        .is(200);
    }
    await operator.tab.delete('claimsproviders/hidden').is(200);
    await operator.tab.delete('claimsproviders/shown').is(200);
    for (const [watch, wanted] of [
      [stream, ['MODIFIED shown', 'DELETED shown']],
      [byOperator, ['MODIFIED hidden', 'MODIFIED shown', 'DELETED hidden', 'DELETED shown']],
    ] as const) {
      await watch.until(({ events }) =>
        events.some(({ type, object }) => type === 'DELETED' && object.metadata.name === 'shown'),
      );
      expect(
        watch.events
          .slice(3)
          .filter(({ type }) => type !== 'BOOKMARK')
          .map(({ type, object }) => `${type} ${object.metadata.name}`),
      ).toEqual(wanted);
      watch.close();
    }
    await law(policy);
  });

  test('one that is gone before its watch begins holds no place', async () => {
    const { elsewhere } = await person();
    for (let round = 0; round < 5; round += 1) {
      const many = Array.from({ length: 20 }, () => new Stream(elsewhere, 'grants?watch=true'));
      await new Promise((resolve) => {
        setTimeout(resolve, round);
      });
      for (const one of many) one.close();
      await Promise.all(many.map((one) => one.until(({ ended }) => ended)));
    }
    const all: Stream[] = [];
    for (let tries = 0; all.length < 20; tries += 1) {
      const one = await new Stream(elsewhere, 'grants?watch=true').until(({ code }) => code !== 0);
      if (one.code === 200) all.push(one);
      else {
        expect(tries).toBeLessThan(500);
        await new Promise((resolve) => {
          setTimeout(resolve, 10);
        });
      }
    }
    for (const one of all) one.close();
  });

  describe('one owner’s range', () => {
    const grant = (
      owner: string,
      client: string,
      labels: Record<string, string> = {},
    ): Promise<unknown> =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.create(Grant, {
          metadata: { name: `${owner}-${client}`, labels },
          spec: { scopes: ['openid'] },
          internal: { decision: 1, rejected: [], clientUID: '', decided: 0 },
          status: {
            account: owner,
            client: { name: client, displayName: 'x' },
            grantedTimestamp: '2026-01-01T00:00:00Z',
            disclosures: [],
          },
        }),
      );
    const named = (items: any[]): string[] => items.map(({ metadata }) => metadata.name).sort();
    const of = ({ name }: Person): string => `fieldSelector=status.account%3D${name}`;

    test('is what a watch with its selector sees, for its owner and operators', async () => {
      const [one, other] = [await person(), await person()];
      const [mine, byOperator] = (await Promise.all(
        [one, operator].map(({ elsewhere }) =>
          new Stream(elsewhere, `grants?watch=true&${of(one)}`).until(
            ({ events }) => events.length === 1,
          ),
        ),
      )) as [Stream, Stream];
      const both = await new Stream(
        operator.elsewhere,
        `grants?watch=true&${of(one)}&labelSelector=w`,
      ).until(({ code }) => code === 200);
      for (const owner of [`${one.name}b`, one.name.slice(0, -1), other.name]) {
        await grant(owner, 'near', { w: '' });
      }
      await grant(one.name, 'own');
      await grant(one.name, 'last', { w: '' });
      for (const stream of [mine, byOperator]) {
        await stream.until(({ events }) => events.length >= 3);
        expect(stream.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(
          ['app', 'own', 'last'].map((client) => `ADDED ${one.name}-${client}`),
        );
      }
      await both.until(({ events }) => events.length > 0);
      expect(both.events.map(({ object }) => object.metadata.name)).toEqual([`${one.name}-last`]);
      for (const what of ['', '&watch=true']) {
        await other.elsewhere.get(`grants?${of(one)}${what}`).fails(403, 'Forbidden');
      }
      const { message } = await one.tab
        .get('grants?watch=true&fieldSelector=spec.account%3Dx')
        .fails(400, 'BadRequest');
      expect(message).toBe(
        '"spec.account" is not a known field selector: only "metadata.name", "status.account", "status.client.name"',
      );
      for (const stream of [mine, byOperator, both]) stream.close();
    });

    test('is all that deleting a collection touches, by label, by number, by owner', async () => {
      const [one, other] = [await person(), await person()];
      for (const owner of [one.name, other.name, `${one.name}b`]) {
        for (const client of ['c1', 'c2', 'c3', 'c4']) {
          await grant(owner, client, { odd: String(Number(client.at(-1)) % 2) });
        }
      }
      const left = async (): Promise<string[]> =>
        named((await operator.tab.get('grants').is(200)).body.items).filter((name) =>
          [one.name, other.name, `${one.name}b`].includes(name.split('-')[0]!),
        );
      let stay = await left();
      const goes = async (tab: Tab, query: string, clients: readonly string[]): Promise<void> => {
        const gone = clients.map((client) => `${one.name}-${client}`);
        const { body } = await tab.delete(`grants?${query}`).is(200);
        expectFor(query, [body.kind, named(body.items)]).toEqual(['GrantList', gone]);
        if (!query.includes('dryRun')) stay = stay.filter((name) => !gone.includes(name));
        expect(await left()).toEqual(stay);
      };
      await other.tab.delete(`grants?${of(one)}`).fails(403, 'Forbidden');
      for (const query of [
        'labelSelector=%3D%3D',
        'limit=-1',
        'fieldSelector=spec.x%3D1',
        'dryRun=Some',
      ]) {
        expect((await one.tab.delete(`grants?${query}`)).code).toBe(
          query.startsWith('dryRun') ? 422 : 400,
        );
      }
      await goes(one.tab, 'dryRun=All', ['app', 'c1', 'c2', 'c3', 'c4']);
      await goes(one.tab, 'labelSelector=odd%3D1', ['c1', 'c3']);
      await goes(one.tab, 'labelSelector=odd%3D1', []);
      await goes(one.tab, 'limit=1', ['app']);
      await goes(operator.tab, `labelSelector=odd&limit=1&${of(one)}`, ['c2']);
      await goes(one.tab, `${of(one)}&labelSelector=!odd`, []);
      await goes(one.tab, of(one), ['c4']);
    });
  });
});
