import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { createPolicy, Policy } from '../../../kinds/policy/policy.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import type { Transaction } from '../../../registry/kind.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import { begin, mailTo, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { Stopwatch } from '../../support/stopwatch.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const draft = (cedar: string, description = 'A test.') => ({ spec: { cedar, description } });

/** The text in force with a rule more. */
async function textWith(service: TestService, rule: string): Promise<string> {
  const { body } = await service.tab().get('policies').is(200);
  return `${body.items.find((item: any) => item.status.inForce).spec.cedar}\n${rule}\n`;
}

const create = (condition: string): string =>
  `forbid (principal, action == Action::"create", resource is Policy) when { ${condition} };`;
const closed =
  '@id("closed") @message("Clients are not for reading.") forbid (principal, action == Action::"get", resource is Client);';

describe.each(stores)('policies, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  beforeAll(async () => {
    service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'ada@example.test')).tab;
  });

  test('the first comes with the service and is read by anyone', async () => {
    const { body } = await service.tab().get('policies/p-1', { cookies: false }).is(200);
    expect(body).toMatchObject({
      metadata: { name: 'p-1' },
      status: { inForce: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(body.status.rules).toContainEqual({
      id: 'anyone-reads-policies',
      effect: 'permit',
      message: 'Anyone may read the policy.',
    });
    await service.tab().get('/readyz/policy').is(200);
  });

  test('is created by operators alone, who give no name', async () => {
    const text = await textWith(service, closed);
    await person.post('policies', draft(text)).fails(403, 'Forbidden');
    await service.tab().post('policies', draft(text)).fails(401, 'Unauthorized');
    await operator
      .post('policies', { ...draft(text), metadata: { name: 'p-9' } })
      .fails(422, 'Invalid', 'metadata.name');
    for (const [method, path] of [
      ['PATCH', 'policies/p-1'],
      ['PUT', 'policies/p-1'],
      ['DELETE', 'policies/p-1'],
      ['DELETE', 'policies'],
    ] as const) {
      await operator.send(method, path).fails(405, 'MethodNotAllowed');
    }
    expect(
      (await operator.get('policies').is(200)).body.items.map((item: any) => item.metadata.name),
    ).toEqual(['p-1']);
  });

  test('that is wrong changes nothing and says where', async () => {
    const wrong = async (cedar: string): Promise<string> =>
      (await operator.post('policies', draft(cedar)).fails(422, 'Invalid', 'spec.cedar')).details!
        .causes![0]!.message;
    expect(
      await wrong('permit (principal, action, resource);\npermit (principal, action resource);'),
    ).toMatch(/line 2, column 27/);
    expect(
      await wrong(
        await textWith(
          service,
          'forbid (principal, action == Action::"create", resource is Policy);',
        ),
      ),
    ).toMatch(/no operator could create policies/);
    expect(
      await wrong(
        await textWith(
          service,
          'forbid (principal is Anonymous, action == Action::"get", resource is Policy);',
        ),
      ),
    ).toMatch(/reading policies must be open to anyone/);
    expect(await wrong(`// ${'x'.repeat(65 << 10)}`)).toMatch(/Too long/);
    await operator.post('policies', { spec: {} }).fails(422, 'Invalid', 'spec.cedar');
    expect((await operator.get('policies').is(200)).body.items).toHaveLength(1);
  });

  test('cannot lock out those who are operators now, whether by the flag or by the Group', async () => {
    const own = (await operator.get('accounts/~').is(200)).body.metadata.name;
    const [byDomain, byName, noNews] = [
      create('context.domain == "example.test"'),
      create(`principal == Account::"${own}"`),
      `${create(`principal == Account::"${own}"`)}\nforbid (principal, action == Action::"signUp", resource);`,
    ];
    const tried = async (rules: string) =>
      operator.post('policies?dryRun=All', draft(await textWith(service, rules)));
    for (const rules of [byDomain, byName]) {
      expect((await tried(rules)).body.details.causes[0].message).toMatch(
        /no operator could create policies/,
      );
    }
    await operator
      .post('groups', {
        metadata: { name: 'operators' },
        spec: { displayName: 'Operators', members: ['Lead@Other.test', 'op@example.test'] },
      })
      .is(201);
    for (const rules of [byDomain, byName]) expect((await tried(rules)).code).toBe(201);
    expect((await tried(noNews)).code).toBe(422);
    await operator
      .patch('groups/operators', { spec: { members: ['ada@example.test', 'op@example.test'] } })
      .is(200);
    expect([
      (await tried(byDomain)).code,
      (await tried(byName)).code,
      (await tried(noNews)).code,
    ]).toEqual([422, 201, 201]);
    await service.store.change(service.store.systemCall(), async (tx) => {
      const ada = await tx.byUnique(Account, 'email', 'ada@example.test');
      await tx.update(Account, ada!.metadata.name, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      });
    });
    expect((await tried(byName)).code).toBe(422);
    await service.store.change(service.store.systemCall(), async (tx) => {
      const ada = await tx.byUnique(Account, 'email', 'ada@example.test');
      await tx.update(Account, ada!.metadata.name, ({ status }) => {
        delete status.disabledTimestamp;
      });
    });
    await operator.delete('groups/operators').is(200);
  });

  test('takes the place of the one before, here at once', async () => {
    await operator.get('clients/app').is(200);
    const { body } = await operator
      .post('policies', {
        ...draft(await textWith(service, closed)),
        metadata: { generateName: 'ignored-', labels: { a: 'b' } },
      })
      .is(201);
    expect(body).toMatchObject({
      metadata: { name: 'p-2', labels: { a: 'b' } },
      status: { inForce: true },
    });
    expect(body.status.rules.at(-1)).toEqual({
      id: 'closed',
      effect: 'forbid',
      message: 'Clients are not for reading.',
    });
    await operator.get('clients/app').fails(404, 'NotFound');
    const { body: former } = await operator.get('policies/p-1').is(200);
    expect(former.status).toMatchObject({
      inForce: false,
      supersededTimestamp: body.status.inForceSince,
    });
    expect((await operator.get('clients').is(200)).body.items).toHaveLength(1);
    await operator
      .post('policies', draft((await operator.get('policies/p-1').is(200)).body.spec.cedar))
      .is(201);
    await operator.get('clients/app').is(200);
  });

  test('is tried without being put in force', async () => {
    const before = (await operator.get('policies').is(200)).body.items.length;
    const { body } = await operator
      .post('policies?dryRun=All', draft(await textWith(service, closed)))
      .is(201);
    expect(body.status.impact).toMatchObject({ undecidable: 0, nowAllowed: [] });
    expect((await operator.get('policies').is(200)).body.items).toHaveLength(before);
    await operator.get('clients/app').is(200);
  });

  test('what can never hold is a warning beside the answer', async () => {
    const rule =
      '@id("monday") permit (principal, action == Action::"signIn", resource) when { context.weekday == "Mon" };';
    const text = await textWith(service, rule);
    const { headers } = await operator.post('policies?dryRun=All', draft(text)).is(201);
    expect(headers['warning']).toMatch(
      /^299 - "spec\.cedar: line \d+, column 1: rule \\"monday\\": weekday is never \\"Mon\\": it is \\"Monday\\"/,
    );
    const good = await operator
      .post('policies?dryRun=All', draft(await textWith(service, '')))
      .is(201);
    expect(good.headers).not.toHaveProperty('warning');
  });

  test('a list is what its verb permits, object by object', async () => {
    await createClient(service, 'hidden');
    const former = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const overflow =
      'context has signInAge && (context.signInAge + 99999) * 999999999999999 * 999999999 == 1';
    const [before, logged] = [service.counts(), service.logs.length];
    const {
      body: {
        metadata: { name },
      },
    } = await operator
      .post(
        'policies',
        draft(
          `${former}\n@id("shut") forbid (principal, action == Action::"list", resource is Group) when { ${overflow.replaceAll('signInAge + 99999', 'signInAge + 99998')} };\n@id("unlisted") @message("Not listed.") forbid (principal, action == Action::"list", resource == Client::"hidden");\n@id("broken") @message("Broken.") forbid (principal, action == Action::"get", resource == Client::"app") when { ${overflow} };\n`,
        ),
      )
      .is(201);
    expect(
      (await operator.get('clients').is(200)).body.items.map((item: any) => item.metadata.name),
    ).toEqual(['app']);
    expect((await operator.get('clients?limit=1').is(200)).body.metadata).not.toHaveProperty(
      'continue',
    );
    await operator.get('clients/hidden').is(200);
    for (let i = 0; i < 3; i += 1) await operator.get('clients/app').fails(404, 'NotFound');
    await operator.get('groups').fails(403, 'Forbidden');
    const grown = (count: string): number =>
      service.counts().get(`policy.${count}`)! - before.get(`policy.${count}`)!;
    expect([
      grown('errors') >= 4,
      grown('refusals') >= 5,
      grown('overruns'),
      grown('hits') > 0,
      grown('misses') > 0,
    ]).toEqual([true, true, 0, true, true]);
    const lines = service.logs
      .slice(logged)
      .map((line) => JSON.parse(line))
      .filter((line) => line.policy === name);
    expect(
      lines.filter(({ level }) => level === 'error').map(({ rule, message }) => [rule, message]),
    ).toEqual(['broken', 'shut'].map((rule) => [rule, 'policy evaluation failed, request denied']));
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        warning: 'rule "shut" forbids without a @message: people see no reason',
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/example\.test|999999/);
    await settledDecisions(service, ({ status }) => status.reasons[0]?.rule === 'error');
    await operator.post('policies', draft(former)).is(201);
    await operator.get('clients/app').is(200);
    await operator.delete('clients/hidden').is(200);
  });

  test('a list with something hidden in it gives no count, on any page', async () => {
    const [former, names] = [
      (await operator.get('policies/p-1').is(200)).body.spec.cedar,
      ['many-1', 'many-2', 'many-3', 'many-4', 'many-5', 'many-6'],
    ];
    for (const name of names) {
      await operator
        .post('groups', { metadata: { name }, spec: { displayName: name, members: [] } })
        .is(201);
    }
    const paged = async (limit: number): Promise<[string[], (number | undefined)[]]> => {
      const [seen, counts]: [string[], (number | undefined)[]] = [[], []];
      for (let token: string | undefined = ''; token !== undefined; ) {
        const { items, metadata }: any = (
          await operator.get(`groups?limit=${limit}${token && `&continue=${token}`}`).is(200)
        ).body;
        seen.push(...items.map((item: any) => item.metadata.name));
        counts.push(metadata.remainingItemCount);
        token = metadata.continue;
      }
      return [seen, counts];
    };
    expect(await paged(2)).toEqual([names, [4, 2, undefined]]);
    for (const hidden of ['many-1', 'many-3', 'many-5', 'many-6']) {
      await operator
        .post(
          'policies',
          draft(
            `${former}\n@message("Hidden.") forbid (principal, action == Action::"list", resource == Group::"${hidden}");\n`,
          ),
        )
        .is(201);
      for (const limit of [1, 2, 5]) {
        const [seen, counts] = await paged(limit);
        expectFor([hidden, limit], [seen, counts.filter((count) => count !== undefined)]).toEqual([
          names.filter((name) => name !== hidden),
          [],
        ]);
      }
    }
    await operator.post('policies', draft(former)).is(201);
    for (const name of names) await operator.delete(`groups/${name}`).is(200);
  });

  test('a scope that is refused cannot be agreed to, and is in no token', async () => {
    const former = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    await operator
      .post(
        'policies',
        draft(
          `${former}\n@id("no-profile") @message("Not to this app.") forbid (principal, action == Action::"share", resource == Scope::"profile") when { context has client && context.client == Client::"app" };\n`,
        ),
      )
      .is(201);
    const { tab, I, verifier, client } = await begin(service, {
      scope: 'openid email profile',
      parameters: { prompt: 'consent' },
    });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'grace@example.test' } }).is(200);
    const { body: known } = await tab
      .post(`${I}/login`, {
        spec: { method: 'EmailCode', code: (await mailTo(service, 'grace@example.test')).code },
      })
      .is(200);
    const at = (await tab.navigate(known.status.returnTo).is(303)).headers.location!;
    const shown = async () => (await tab.get(at).is(200)).body.status;
    expect((await shown()).consent.scopes[2]).toMatchObject({
      name: 'profile',
      allowed: false,
      granted: false,
      reason: 'Not to this app.',
    });
    const agree = (...scopes: string[]) => tab.post(`${at}/consent`, { spec: { scopes } });
    expect(
      (await agree('openid', 'email', 'profile').fails(422, 'Invalid', 'spec.scopes[2]')).details!
        .causes![0]!.message,
    ).toContain('Not to this app.');
    await agree('profile', 'openid', 'email').fails(422, 'Invalid', 'spec.scopes[0]');
    await agree('openid', 'email', 'nonsense').fails(422, 'Invalid', 'spec.scopes[2]');
    await agree('openid', 'email', 'offline_access').fails(422, 'Invalid', 'spec.scopes[2]');
    await agree('openid').fails(422, 'Invalid', 'spec.scopes');
    expect((await shown()).phase).toBe('ConsentRequired');
    expect((await tab.get('grants').is(200)).body.items).toEqual([]);
    const { body } = await agree('openid', 'email').is(200);
    const { body: tokens } = await redeem(service, {
      callback: new URL((await tab.navigate(body.status.returnTo).is(303)).headers.location!),
      verifier,
      client,
    });
    expect(tokens.scope).toBe('openid email');
    const claims = JSON.parse(Buffer.from(tokens.id_token.split('.')[1], 'base64url').toString());
    const userinfo = (
      await service
        .tab()
        .get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${tokens.access_token}` },
        })
        .is(200)
    ).body;
    for (const claim of ['name', 'given_name', 'nickname', 'preferred_username', 'updated_at']) {
      for (const one of [claims, userinfo]) expect(one).not.toHaveProperty(claim);
    }
    expect(userinfo).toMatchObject({ email: 'grace@example.test' });
    await operator.post('policies', draft(former)).is(201);
  });

  test('racing creators get a number each, and one is in force', async () => {
    const text = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const made = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        operator.post('policies', draft(text, `Racer ${i}`)).is(201),
      ),
    );
    expect(new Set(made.map(({ body }) => body.metadata.name)).size).toBe(4);
    const { items } = (await operator.get('policies').is(200)).body;
    expect(
      items.filter((item: any) => item.status.inForce).map((item: any) => item.metadata.name),
    ).toEqual([`p-${items.length}`]);
  });

  test('one created while another reads the newest comes before it', async () => {
    const { items } = (await operator.get('policies').is(200)).body;
    const { cedar } = items.at(-1).spec;
    const call = service.store.systemCall();
    const enacted = (tx: Transaction) => createPolicy(tx, call, { spec: { cedar }, rules: [] });
    const names: string[] = [];
    const made = await service.store.change(call, (tx) =>
      enacted(
        new Proxy(tx, {
          get: (target, name) =>
            name !== 'read'
              ? Reflect.get(target, name).bind(target)
              : async (key: string) => {
                  const held = await target.read(key);
                  if (names.length < 2) {
                    names.push((await service.store.change(call, enacted)).metadata.name);
                  }
                  return held;
                },
        }),
      ),
    );
    expect([...names, made.metadata.name]).toEqual([
      `p-${items.length + 1}`,
      `p-${items.length + 2}`,
      `p-${items.length + 3}`,
    ]);
  });

  test('every replica evaluates the new one within a second, under load', async () => {
    const other = await service.replica();
    const elsewhere = other.tab();
    elsewhere.cookies = operator.cookies;
    const text = await textWith(service, closed);
    const load = { running: true };
    const loading = Promise.all(
      [operator, elsewhere].map(async (tab) => {
        while (load.running) expect([200, 404]).toContain((await tab.get('clients/app')).code);
      }),
    );
    const { body } = await operator.post('policies', draft(text)).is(201);
    const stopwatch = new Stopwatch();
    while ((await elsewhere.get('clients/app')).code === 200) {
      expect(stopwatch.milliseconds).toBeLessThan(1_000);
    }
    await operator.get('clients/app').fails(404, 'NotFound');
    load.running = false;
    await loading;
    await other.tab().get('/readyz/policy').is(200);
    const recorded = await settledDecisions(
      service,
      (one) => one.spec.policy === body.metadata.name && !one.status.allowed,
    );
    expect(recorded[0]!.status.reasons).toEqual([
      { rule: 'closed', message: 'Clients are not for reading.' },
    ]);
  });

  test('ends the watches of sign-ins, on every replica, and no other', async () => {
    const other = await service.replica();
    const { tab, I } = await begin(service);
    const elsewhere = other.tab();
    elsewhere.cookies = tab.cookies;
    const [signIn, policies] = [
      new Stream(elsewhere, `${I}?watch=true`),
      new Stream(elsewhere, 'policies?watch=true'),
    ];
    await Promise.all(
      [signIn, policies].map((stream) => stream.until(({ events }) => events.length > 0)),
    );
    const { body } = await operator.post('policies', draft(await textWith(service, ''))).is(201);
    await signIn.until(({ ended }) => ended, 5_000);
    expect(signIn.events.filter(({ type }) => type === 'ERROR')).toEqual([]);
    await policies.until(({ events }) =>
      events.some(({ object }) => object.metadata.name === body.metadata.name),
    );
    expect(policies.ended).toBe(false);
    policies.close();
  });

  test('a text that cannot be compiled keeps the former, and readiness fails', async () => {
    const before = (await operator.get('policies').is(200)).body.items.at(-1);
    const call = service.store.systemCall();
    await service.store.change(call, (tx) =>
      createPolicy(tx, call, {
        spec: { cedar: 'permit (principal, action == Action::"get"' },
        rules: [],
      }),
    );
    await until(async () => (await service.tab().get('/readyz/policy')).code === 500);
    await operator.get('clients/app').fails(404, 'NotFound');
    await operator.post('policies', draft(before.spec.cedar)).is(201);
    await service.tab().get('/readyz/policy').is(200);
  });
});

test.each(stores)(
  'the policy of an earlier release stays in force, and each start says so, on %s',
  async (store) => {
    const service = await startTest({ quickDecisions: true, store, flags });
    const said = ({ logs }: TestService): unknown[] =>
      logs
        .map((line) => JSON.parse(line))
        .filter(({ message }) => /an earlier release/.test(message))
        .map(({ level, policy }) => [level, policy]);
    expect([said(service), said(await service.replica())]).toEqual([[], []]);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Policy, 'p-1', ({ spec }) => {
        spec.cedar += '// As it was in an earlier release.\n';
      }),
    );
    const later = await service.replica();
    expect(said(later)).toEqual([['warn', 'p-1']]);
    expect((await later.tab().get('policies/p-1').is(200)).body).toMatchObject({
      spec: { cedar: expect.stringMatching(/As it was/) },
      status: { inForce: true },
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    await tab
      .post('policies', draft((await tab.get('policies/p-1').is(200)).body.spec.cedar))
      .is(201);
    expect(said(await service.replica())).toEqual([]);
  },
);

describe('a Policy manifest', () => {
  const write = (folder: string, cedar: string, more = ''): void =>
    writeFileSync(
      join(folder, 'policy.yaml'),
      `apiVersion: id.vestibule.org/v1beta1\nkind: Policy\n${more}spec:\n  cedar: |\n${cedar.replaceAll(/^/gm, '    ')}\n`,
    );
  const names = async (service: TestService): Promise<string[]> =>
    (await service.tab().get('policies').is(200)).body.items.map((item: any) => item.metadata.name);

  test('is put in force when its text is new; a bad one stops the start', async () => {
    const [folder, directory] = [temporary(), temporary()];
    const plain = await startTest({ quickDecisions: true, directory, flags });
    const text = await textWith(plain, closed);
    await plain.stop();
    write(folder, text);
    const start = (at = directory) =>
      startTest({
        quickDecisions: true,
        directory: at,
        keys: plain.keys,
        flags: [...flags, '--manifests', folder],
      });
    const first = await start();
    expect(await names(first)).toEqual(['p-1', 'p-2']);
    await first.stop();
    const second = await start();
    expect(await names(second)).toEqual(['p-1', 'p-2']);
    await second.stop();
    write(folder, 'permit (principal, action);');
    await expect(start()).rejects.toThrow(
      /^--manifests: \S+policy\.yaml: spec\.cedar: line 1, column \d+: [^\n]+$/,
    );
    write(folder, text, 'metadata: { name: p-3 }\n');
    await expect(start(temporary())).rejects.toThrow(/a Policy has no name/);
  });
});

/** Recorded decisions that are as wanted, once there are some. */
async function settledDecisions(
  service: TestService,
  wanted: (one: DecisionObject) => boolean,
): Promise<DecisionObject[]> {
  let found: DecisionObject[] = [];
  await until(
    async () =>
      (found = ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).filter(
        wanted,
      )).length > 0,
  );
  return found;
}
