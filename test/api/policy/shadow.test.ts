import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Chance } from '../../policy/random.js';
import { settles, until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const closed =
  '@id("closed") @message("Not now.") forbid (principal is Account, action == Action::"get", resource is Account);';

/** What a test does with policies in mode Shadow. */
class Trial {
  readonly service: TestService;
  readonly operator: Tab;

  constructor(service: TestService, operator: Tab) {
    this.service = service;
    this.operator = operator;
  }

  async inForce(): Promise<any> {
    const { body } = await this.operator.get('policies').is(200);
    return body.items.find((item: any) => item.status.inForce);
  }

  /** The text in force with rules more. */
  async textWith(rules: string): Promise<string> {
    return `${(await this.inForce()).spec.cedar}\n${rules}\n`;
  }

  async begin(rules: string, spec: object = {}): Promise<any> {
    const cedar = await this.textWith(rules);
    return (
      await this.operator.post('policies', { spec: { cedar, mode: 'Shadow', ...spec } }).is(201)
    ).body;
  }

  async read(name: string): Promise<any> {
    return (await this.operator.get(`policies/${name}`).is(200)).body;
  }

  /** Waits until the counts of a policy hold. */
  counts(name: string, holds: (shadow: any) => boolean): Promise<any> {
    return settles(
      async () => (await this.read(name)).status.shadow,
      (shadow) => holds(shadow),
    );
  }

  /** Returns how often each decision was made, by its name. */
  async counted(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { body }: any = await this.operator
        .get(`policydecisions?limit=500${next && `&continue=${encodeURIComponent(next)}`}`)
        .is(200);
      for (const { metadata, status } of body.items) found.set(metadata.name, status.count);
      next = body.metadata.continue;
    }
    return found;
  }

  async dryRun(cedar: string, spec: object = {}): Promise<any> {
    return (await this.operator.post('policies?dryRun=All', { spec: { cedar, ...spec } }).is(201))
      .body;
  }
}

/** Reads a Client, which an ordinary person may not know of. */
const refused = (tab: Tab) => tab.get('clients/app').fails(404, 'NotFound');
/** Returns a service once it compares a policy. */
async function comparing(service: TestService): Promise<TestService> {
  await until(() => service.logs.join('').includes('policy is compared in mode Shadow'));
  return service;
}

const condition = ({ status }: any, type: string): any =>
  status.conditions.find((condition: any) => condition.type === type);

describe.each(stores)('a policy in mode Shadow, on %s', (store) => {
  let trial: Trial;
  let operator: Tab;
  let person: Tab;
  beforeAll(async () => {
    const service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'ada@example.test')).tab;
    trial = new Trial(service, operator);
  });

  test('decides nothing, and counts what it would have decided', async () => {
    const created = await trial.begin(closed);
    expect(created).toMatchObject({
      metadata: { name: 's-1' },
      spec: { mode: 'Shadow' },
      status: { inForce: false, shadow: { comparedWith: 'p-1', evaluated: 0 } },
    });
    expect(created.status.inForceSince).toBeUndefined();
    expect(condition(created, 'InForce')).toMatchObject({ status: 'False', reason: 'Shadow' });
    expect(condition(created, 'Agreed')).toMatchObject({ status: 'False', reason: 'TooEarly' });
    await person.get('accounts/~').is(200);
    expect((await trial.inForce()).metadata.name).toBe('p-1');
    const shadow = await trial.counts('s-1', ({ nowRefused }) => nowRefused > 0);
    expect(shadow.evaluated).toBe(shadow.unchanged + shadow.nowRefused);
    expect(shadow).toMatchObject({ nowAllowed: 0, undecidable: 0 });
    const [example] = shadow.examples.nowRefused;
    const path = `policydecisions/${example}`;
    await until(async () => (await operator.get(path)).code === 200);
    expect((await operator.get(path).is(200)).body).toMatchObject({
      spec: { action: 'get', resource: { kind: 'Account' } },
      status: { allowed: true },
    });
    expect(condition(await trial.read('s-1'), 'Agreed')).toMatchObject({ reason: 'Differs' });
  });

  test('is read by anyone, and how it goes by operators alone', async () => {
    const { metadata } = await trial.begin(closed);
    const { body } = await person.get(`policies/${metadata.name}`).is(200);
    expect(body.spec).toMatchObject({ mode: 'Shadow', cedar: expect.stringContaining('closed') });
    expect(body.status).not.toHaveProperty('shadow');
    expect(body.status).not.toHaveProperty('author');
    expect(body.status.conditions.map((condition: any) => condition.type)).toEqual(['InForce']);
  });

  test('is refused for the same faults as any policy', async () => {
    const shadow = (cedar: string, spec = {}) =>
      operator.post('policies', { spec: { cedar, mode: 'Shadow', ...spec } });
    await shadow('permit (principal, action resource);').fails(422, 'Invalid', 'spec.cedar');
    await shadow('permit (principal, action, resource) when { false };').fails(
      422,
      'Invalid',
      'spec.cedar',
    );
    const { cedar } = (await trial.inForce()).spec;
    await shadow(cedar, { minAgreedSeconds: 0 }).fails(422, 'Invalid', 'spec.minAgreedSeconds');
    await operator
      .post('policies', { spec: { cedar, mode: 'Try' } })
      .fails(422, 'Invalid', 'spec.mode');
    await person.post('policies', { spec: { cedar, mode: 'Shadow' } }).fails(403, 'Forbidden');
  });

  test('ends with the next one', async () => {
    const first = (await trial.begin(closed)).metadata.name;
    const next = await trial.begin('@id("more") permit (principal, action, resource is Client);');
    const { name } = next.metadata;
    expect(Number(name.slice(2))).toBe(Number(first.slice(2)) + 1);
    const former = await trial.read(first);
    expect(former.status.supersededTimestamp).toBe(next.status.shadow.since);
    expect(condition(former, 'InForce')).toMatchObject({ reason: 'Superseded' });
    await refused(person);
    const shadow = await trial.counts(name, ({ nowAllowed }) => nowAllowed > 0);
    expect(shadow.nowRefused).toBe(0);
    const { evaluated } = (await trial.read(first)).status.shadow;
    await person.get('accounts/~').is(200);
    await trial.counts(name, ({ evaluated: count }) => count > shadow.evaluated);
    expect((await trial.read(first)).status.shadow.evaluated).toBe(evaluated);
  });

  test('on a dry run says what would change, and begins nothing', async () => {
    const { metadata } = await trial.begin(closed);
    const tried = await trial.dryRun(await trial.textWith(closed), { mode: 'Shadow' });
    expect(tried.status.impact.nowRefused.length).toBeGreaterThan(0);
    expect((await trial.read(metadata.name)).status).not.toHaveProperty('supersededTimestamp');
    const next = `s-${Number(metadata.name.slice(2)) + 1}`;
    await operator.get(`policies/${next}`).fails(404, 'NotFound');
  });

  test('agrees after the time that it asks for, until a decision differs', async () => {
    const { metadata } = await trial.begin(
      '@id("more") permit (principal, action, resource is Client);',
      { minAgreedSeconds: 1 },
    );
    await person.get('accounts/~').is(200);
    await until(async () => condition(await trial.read(metadata.name), 'Agreed').status === 'True');
    const agreed = await trial.read(metadata.name);
    expect(condition(agreed, 'Agreed').lastTransitionTime).toBe(
      agreed.status.shadow.agreedTimestamp,
    );
    await refused(person);
    await until(
      async () => condition(await trial.read(metadata.name), 'Agreed').status === 'False',
    );
  });

  test('that mentions facts about other objects evaluates with these', async () => {
    const { metadata } = await trial.begin(
      '@id("own") permit (principal, action == Action::"get", resource is Client) ' +
        'when { resource.firstParty == false };',
    );
    await refused(person);
    const shadow = await trial.counts(metadata.name, ({ nowAllowed }) => nowAllowed > 0);
    expect(shadow.undecidable).toBe(0);
  });

  test('ends when a policy comes into force, and is not compared any more', async () => {
    const { metadata } = await trial.begin(closed);
    await person.get('accounts/~').is(200);
    await trial.counts(metadata.name, ({ nowRefused }) => nowRefused > 0);
    const { spec } = await trial.read(metadata.name);
    const { body } = await operator
      .post('policies', {
        spec: { ...spec, cedar: (await trial.inForce()).spec.cedar, mode: 'Enforce' },
      })
      .is(201);
    expect(body).toMatchObject({ metadata: { name: 'p-2' }, status: { inForce: true } });
    const ended = await trial.read(metadata.name);
    expect(ended.status.supersededTimestamp).toBe(body.status.inForceSince);
    await person.get('accounts/~').is(200);
    const next = await trial.begin(closed);
    expect(next.status.shadow.comparedWith).toBe('p-2');
  });

  test('is compared again after a restart', async () => {
    const { metadata } = await trial.begin(closed);
    const again = await comparing(await trial.service.replica());
    const before = (await trial.read(metadata.name)).status.shadow.nowRefused;
    const { tab } = await signIn(again, 'bob@example.test');
    await tab.get('accounts/~').is(200);
    await trial.counts(metadata.name, ({ nowRefused }) => nowRefused > before);
    await again.stop();
  });
});

/** The actions and kinds of random rules; what each person does once or more in a round. */
const actions = ['get', 'list', 'create', 'delete', 'signIn', 'signUp', 'share'] as const;
const resources = ['Account', 'Session', 'Client', 'Group', 'Passkey', 'Grant'] as const;

const resourceOf: Readonly<Record<string, string>> = {
  signIn: 'Client',
  signUp: 'Client',
  share: 'Scope',
};

/** Returns a rule that concerns people of one domain alone. */
function randomRule(chance: Chance, index: number): string {
  const effect = chance.of(['permit', 'forbid']);
  const action = chance.of(actions);
  const resource = resourceOf[action] ?? chance.of(resources);
  const message = effect === 'forbid' ? ' @message("Not now.")' : '';
  return (
    `@id("random${index}")${message} ` +
    `${effect} (principal is Account, action == Action::"${action}", resource is ${resource}) ` +
    'when { context.domain == "people.test" };'
  );
}

/** Sends requests as one person, which the rules of a round may concern. */
async function act(service: TestService, name: string, chance: Chance): Promise<void> {
  const { tab } = await signIn(service, `${name}@people.test`);
  const paths = [
    'accounts/~',
    'accounts',
    'sessions',
    'clients/app',
    'groups',
    'passkeys',
    'grants',
  ];
  for (let i = 0; i < 12; i += 1) {
    const path = chance.of(paths);
    if (chance.maybe(0.8)) {
      await tab.get(path);
    } else {
      await tab.delete('clients/app').fails(404, 'NotFound');
    }
  }
}

describe.each(stores)('a policy in mode Shadow and its dry run, on %s', (store) => {
  test('say the same of random requests', async () => {
    const service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    const trial = new Trial(service, (await signIn(service, 'op@example.test')).tab);
    const chance = new Chance(20_261_127);
    let differences = 0;
    for (let round = 0; round < 5; round += 1) {
      const rules = [0, 1, 2].map((index) => randomRule(chance, index)).join('\n');
      const { metadata, spec } = await trial.begin(rules);
      const before = await trial.counted();
      const replica = await comparing(await service.replica());
      for (const name of ['ada', 'bob', 'eve']) await act(replica, `${name}${round}`, chance);
      await replica.stop(); // writes what it counted
      const after = await trial.counted();
      const { impact } = (await trial.dryRun(spec.cedar)).status;
      const decisions = (names: readonly string[]): number =>
        names.reduce((sum, name) => sum + after.get(name)! - (before.get(name) ?? 0), 0);
      const { nowRefused, nowAllowed } = (await trial.read(metadata.name)).status.shadow;
      expect({ rules, nowRefused, nowAllowed }).toEqual({
        rules,
        nowRefused: decisions(impact.nowRefused),
        nowAllowed: decisions(impact.nowAllowed),
      });
      differences += nowRefused + nowAllowed;
    }
    expect(differences).toBeGreaterThan(20);
  });
});
