import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enact } from '../../kinds/policy/policy.js';
import { PolicyDecision, type DecisionObject } from '../../kinds/policy/decision.js';
import { register } from '../support/passkeys.js';
import { begin, mailTo, signIn } from '../support/signin.js';
import { createClient, startTest, stopAll, temporary, type TestService } from '../support/service.js';
import { Stream } from '../support/stream.js';
import type { Tab } from '../support/tab.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const draft = (cedar: string, description = 'A test.') => ({ spec: { cedar, description } });

/** The text in force with a rule more. */
async function textWith(service: TestService, rule: string): Promise<string> {
  const { body } = await service.tab().get('policies').is(200);
  return `${body.items.find((one: any) => one.status.inForce).spec.cedar}\n${rule}\n`;
}

const closed = '@id("closed") @message("Clients are not for reading.") forbid (principal, action == Action::"get", resource is Client);';

describe.each(['embedded', 'etcd'] as const)('policies, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'ada@example.test')).tab;
  });

  test('the first comes with the service and is read by anyone (I5)', async () => {
    const { body } = await service.tab().get('policies/p-1', { cookies: false }).is(200);
    expect(body).toMatchObject({ metadata: { name: 'p-1' }, status: { inForce: true, author: 'vestibule', hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    expect(body.status.rules).toContainEqual({ id: 'anyone-reads-policies', effect: 'permit' });
    await service.tab().get('/readyz/policy').is(200);
  });

  test('is created by operators alone, who give no name (I5)', async () => {
    const text = await textWith(service, closed);
    await person.post('policies', draft(text)).fails(403, 'Forbidden');
    await service.tab().post('policies', draft(text)).fails(401, 'Unauthorized');
    await operator.post('policies', { ...draft(text), metadata: { name: 'p-9' } }).fails(422, 'Invalid', 'metadata.name');
    for (const [method, path] of [['PATCH', 'policies/p-1'], ['PUT', 'policies/p-1'], ['DELETE', 'policies/p-1'], ['DELETE', 'policies']] as const) await operator.send(method, path).fails(405, 'MethodNotAllowed');
    expect((await operator.get('policies').is(200)).body.items.map((one: any) => one.metadata.name)).toEqual(['p-1']);
  });

  test('that is wrong changes nothing and says where (I3)', async () => {
    const wrong = async (cedar: string): Promise<string> => (await operator.post('policies', draft(cedar)).fails(422, 'Invalid', 'spec.cedar')).details!.causes![0]!.message;
    expect(await wrong('permit (principal, action, resource);\npermit (principal, action resource);')).toMatch(/line 2, column 27/);
    expect(await wrong(await textWith(service, 'forbid (principal, action == Action::"create", resource is Policy);'))).toMatch(/no operator could create policies/);
    expect(await wrong(await textWith(service, 'forbid (principal is Visitor, action == Action::"get", resource is Policy);'))).toMatch(/reading policies must be open to anyone/);
    expect(await wrong(`// ${'x'.repeat(65 << 10)}`)).toMatch(/Too long/);
    await operator.post('policies', { spec: {} }).fails(422, 'Invalid', 'spec.cedar');
    expect((await operator.get('policies').is(200)).body.items).toHaveLength(1);
  });

  test('takes the place of the one before, here at once', async () => {
    await operator.get('clients/app').is(200);
    const { body } = await operator.post('policies', { ...draft(await textWith(service, closed)), metadata: { generateName: 'ignored-', labels: { a: 'b' } } }).is(201);
    expect(body).toMatchObject({ metadata: { name: 'p-2', labels: { a: 'b' } }, status: { inForce: true } });
    expect(body.status.rules.at(-1)).toEqual({ id: 'closed', effect: 'forbid', message: 'Clients are not for reading.' });
    await operator.get('clients/app').fails(404, 'NotFound');
    const { body: former } = await operator.get('policies/p-1').is(200);
    expect(former.status).toMatchObject({ inForce: false, supersededTimestamp: body.status.inForceSince });
    expect((await operator.get('clients').is(200)).body.items).toHaveLength(1);
    await operator.post('policies', draft((await operator.get('policies/p-1').is(200)).body.spec.cedar)).is(201);
    await operator.get('clients/app').is(200);
  });

  test('a list is what its verb permits, object by object; an error refuses and is recorded (I2)', async () => {
    await createClient(service, 'hidden');
    const former = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const overflow = 'context has signInAge && (context.signInAge + 99999) * 999999999999999 * 999999999 == 1';
    await operator.post('policies', draft(`${former}\n@id("unlisted") @message("Not listed.") forbid (principal, action == Action::"list", resource == Client::"hidden");\n@id("broken") @message("Broken.") forbid (principal, action == Action::"get", resource == Client::"app") when { ${overflow} };\n`)).is(201);
    expect((await operator.get('clients').is(200)).body.items.map((one: any) => one.metadata.name)).toEqual(['app']);
    expect((await operator.get('clients?limit=1').is(200)).body.metadata).not.toHaveProperty('continue');
    await operator.get('clients/hidden').is(200);
    await operator.get('clients/app').fails(404, 'NotFound');
    await settledDecisions(service, ({ status }) => status.reasons[0]?.rule === 'error');
    await operator.post('policies', draft(former)).is(201);
    await operator.get('clients/app').is(200);
    await operator.delete('clients/hidden').is(200);
  });

  test('racing creators get a number each, and one is in force', async () => {
    const text = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const made = await Promise.all(Array.from({ length: 4 }, (_, i) => operator.post('policies', draft(text, `Racer ${i}`)).is(201)));
    expect(new Set(made.map(({ body }) => body.metadata.name)).size).toBe(4);
    const { items } = (await operator.get('policies').is(200)).body;
    expect(items.filter((one: any) => one.status.inForce).map((one: any) => one.metadata.name)).toEqual([`p-${items.length}`]);
  });

  test('is tried without being put in force', async () => {
    const before = (await operator.get('policies').is(200)).body.items.length;
    const { body } = await operator.post('policies?dryRun=All', draft(await textWith(service, closed))).is(201);
    expect(body.status.impact).toMatchObject({ undecidable: 0, nowAllowed: [] });
    expect((await operator.get('policies').is(200)).body.items).toHaveLength(before);
    await operator.get('clients/app').is(200);
  });

  test('every replica judges by the new one within a second, under load, each decision by one policy (I4)', async () => {
    const other = await service.replica();
    const elsewhere = other.tab();
    elsewhere.cookies = operator.cookies;
    const text = await textWith(service, closed);
    const load = { running: true };
    const loading = Promise.all([operator, elsewhere].map(async (tab) => { while (load.running) expect([200, 404]).toContain((await tab.get('clients/app')).code) }));
    const { body } = await operator.post('policies', draft(text)).is(201);
    const since = Date.now();
    while ((await elsewhere.get('clients/app')).code === 200) expect(Date.now() - since).toBeLessThan(1_000);
    await operator.get('clients/app').fails(404, 'NotFound');
    load.running = false;
    await loading;
    await other.tab().get('/readyz/policy').is(200);
    const recorded = await settledDecisions(service, (one) => one.spec.policy === body.metadata.name && !one.status.allowed);
    expect(recorded[0]!.status.reasons).toEqual([{ rule: 'closed', message: 'Clients are not for reading.' }]);
  });

  test('a text that cannot be compiled keeps the former, and the replica is unready until another comes', async () => {
    const before = (await operator.get('policies').is(200)).body.items.at(-1);
    const call = service.store.systemCall();
    await service.store.change(call, (tx) => enact(tx, call, { spec: { cedar: 'permit (principal, action == Action::"get"' }, rules: [] }));
    await until(async () => (await service.tab().get('/readyz/policy')).code === 500);
    await operator.get('clients/app').fails(404, 'NotFound');
    await operator.post('policies', draft(before.spec.cedar)).is(201);
    await service.tab().get('/readyz/policy').is(200);
  });
});

describe('a Policy manifest', () => {
  const write = (folder: string, cedar: string, more = ''): void => writeFileSync(join(folder, 'policy.yaml'), `apiVersion: id.vestibule.org/v1alpha1\nkind: Policy\n${more}spec:\n  cedar: |\n${cedar.replaceAll(/^/gm, '    ')}\n`);
  const names = async (service: TestService): Promise<string[]> => (await service.tab().get('policies').is(200)).body.items.map((one: any) => one.metadata.name);

  test('is put in force when its text is news, and a bad one stops the start with one line (I3)', async () => {
    const [folder, directory] = [temporary(), temporary()];
    const plain = await startTest({ directory, flags });
    const text = await textWith(plain, closed);
    await plain.stop();
    write(folder, text);
    const start = (at = directory) => startTest({ directory: at, flags: [...flags, '--manifests', folder] });
    const first = await start();
    expect(await names(first)).toEqual(['p-1', 'p-2']);
    await first.stop();
    const second = await start();
    expect(await names(second)).toEqual(['p-1', 'p-2']);
    await second.stop();
    write(folder, 'permit (principal, action);');
    await expect(start()).rejects.toThrow(/^--manifests: \S+policy\.yaml: spec\.cedar: line 1, column \d+: [^\n]+$/);
    write(folder, text, 'metadata: { name: p-3 }\n');
    await expect(start(temporary())).rejects.toThrow(/a Policy has no name/);
  });
});

describe('who may do what, by the default policy (I1)', () => {
  type Subject = 'visitor' | 'owner' | 'other' | 'operator';
  const [reading, own] = ['get list watch', 'get list watch delete deletecollection'];
  /** `api.md` 4 for what is served, objects of `owner`; lists are everybody's own. */
  const table: Record<string, Partial<Record<Subject, string>>> = {
    interactions: { operator: 'list' },
    sessions: { owner: own, other: 'list watch deletecollection', operator: own },
    accounts: { owner: `${reading} patch update accounts/passkeychallenge`, other: 'list watch', operator: `${reading} patch update` },
    passkeys: { owner: `${reading} create patch update delete`, other: 'list watch create', operator: `${reading} create delete` },
    grants: { owner: reading, other: 'list watch', operator: reading },
    policydecisions: { owner: reading, other: 'list watch', operator: reading },
    policies: { visitor: reading, owner: reading, other: reading, operator: `${reading} create` },
    clients: { operator: `${reading} create patch update delete clients/secret` },
    mockmessages: { visitor: `${reading} deletecollection`, owner: `${reading} deletecollection`, other: `${reading} deletecollection`, operator: `${reading} deletecollection` },
  };
  let service: TestService;
  const tabs = {} as Record<Subject, Tab>;
  const objects: Record<string, string> = { policies: 'p-1', clients: 'app' };
  beforeAll(async () => {
    service = await startTest({ flags });
    await createClient(service, 'app');
    for (const [subject, address] of [['owner', 'owner@example.test'], ['other', 'other@example.test'], ['operator', 'op@example.test']] as const) tabs[subject] = (await signIn(service, address)).tab;
    tabs.visitor = service.tab();
    const { tab, I, name } = await begin(service);
    objects.interactions = name;
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'mail@example.test' } }).is(200);
    await mailTo(service, 'mail@example.test');
    objects.accounts = (await tabs.owner.get('accounts/~').is(200)).body.metadata.name;
    for (const resource of ['sessions', 'grants']) objects[resource] = (await tabs.owner.get(resource).is(200)).body.items[0].metadata.name;
    objects.passkeys = (await (await register(service, tabs.owner)).answer.is(201)).body.metadata.name;
    objects.mockmessages = (await tabs.visitor.get('mockmessages').is(200)).body.items[0].metadata.name;
    objects.policydecisions = (await settledDecisions(service, ({ spec }) => spec.account === objects.accounts && spec.action === 'signUp'))[0]!.metadata.name;
  });

  /** The request that asks for a verb and, where it is permitted, changes nothing. */
  function ask(tab: Tab, resource: string, verb: string): PromiseLike<{ code: number }> {
    const at = `${resource}/${objects[resource]}`;
    switch (verb) {
      case 'list': return tab.get(resource);
      case 'watch': return watched(tab, resource);
      case 'get': return tab.get(at);
      case 'create': return tab.post(resource, { spec: { bogus: 1 } });
      case 'patch': return tab.patch(at, { spec: { bogus: 1 } });
      case 'update': return tab.put(at, { spec: {} });
      case 'delete': return tab.delete(`${at}?dryRun=All`);
      case 'deletecollection': return tab.delete(`${resource}?dryRun=All`);
      default: return tab.post(`${at}/${verb.split('/')[1]}`, { spec: { bogus: 1 } });
    }
  }

  test('there is a row for every resource, and each says what requests are answered', async () => {
    const { resources } = (await tabs.visitor.get('/api/v1alpha1').is(200)).body;
    const main = resources.filter((one: any) => !one.name.includes('/'));
    expect(main.map((one: any) => one.name).sort()).toEqual(Object.keys(table).sort());
    const differing: string[] = [];
    for (const { name, verbs } of resources) for (const subject of Object.keys(tabs) as Subject[]) for (const verb of name.includes('/') ? (verbs.includes('create') ? [name] : []) : verbs) {
      const resource = name.split('/')[0] as string;
      const { code } = await ask(tabs[subject], resource, verb);
      const wanted = table[resource]![subject]?.split(' ').includes(verb) ?? false;
      const refused = subject === 'visitor' && resource !== 'interactions' ? [401] : [403, 404, 401];
      if (wanted ? [401, 403, 404].includes(code) : !refused.includes(code)) differing.push(`${subject} ${verb} ${resource}: ${code}`);
    }
    expect(differing).toEqual([]);
  }, 60_000);

  test('lists, counts and continue tokens hold nothing of others', async () => {
    for (const resource of ['sessions', 'grants', 'accounts', 'policydecisions']) {
      const all = (await tabs.operator.get(resource).is(200)).body.items;
      const { body } = await tabs.other.get(`${resource}?limit=1`).is(200);
      const mine = (await tabs.other.get('accounts/~').is(200)).body.metadata.name;
      expect(body.items.every((one: any) => one.metadata.name.startsWith(mine))).toBe(true);
      expect((body.metadata.remainingItemCount ?? 0) + body.items.length).toBeLessThanOrEqual(all.filter((one: any) => one.metadata.name.startsWith(mine)).length + 1);
    }
  });
});

/** The answer to a watch, which is then left. */
async function watched(tab: Tab, resource: string): Promise<{ code: number }> {
  const stream = await new Stream(tab, `${resource}?watch=true`).until(({ code }) => code !== 0);
  stream.close();
  return { code: stream.code };
}

/** Recorded decisions that are as wanted, once there are some. */
async function settledDecisions(service: TestService, wanted: (one: DecisionObject) => boolean): Promise<DecisionObject[]> {
  let found: DecisionObject[] = [];
  await until(async () => (found = ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).filter(wanted)).length > 0);
  return found;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 800; i += 1) {
    if (await holds()) return;
    await new Promise((resolve) => { setTimeout(resolve, 10) });
  }
  throw new Error('it never came about');
}
