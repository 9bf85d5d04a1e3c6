import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const hour = 3_600_000;
const isSeries = ({ metadata: { name } }: DecisionObject): boolean => /-0[a-z2-7]{32}$/.test(name);

/** Hours that each decision is kept, and the flags for them. */
const hours = { read: 30, signIn: 36, other: 48 };
const flags = [
  ['--limits-read-decision-retention', `${hours.read}h`],
  ['--limits-sign-in-retention', `${hours.signIn}h`],
  ['--limits-decision-retention', `${hours.other}h`],
].flat();

/** What is decided, which record that leaves, and how long it is kept. */
const cases: readonly (readonly [string, (one: DecisionObject) => boolean, keyof typeof hours])[] =
  [
    ['a sign-in', (one) => one.spec.action === 'signIn' && !isSeries(one), 'signIn'],
    ['a sign-in by a live session', (one) => one.spec.action === 'signIn' && isSeries(one), 'read'],
    ['a scope shared again', (one) => one.spec.action === 'share' && isSeries(one), 'read'],
    ['a read', ({ spec }) => spec.action === 'get' && spec.resource?.kind === 'Account', 'read'],
    [
      'a scope that a consent shares',
      (one) => one.spec.action === 'share' && !isSeries(one),
      'other',
    ],
    ['a consent', ({ spec }) => spec.action === 'interactions/consent', 'other'],
    ['a sign-up', ({ spec }) => spec.action === 'signUp', 'other'],
    ['a step of a sign-in', ({ spec }) => spec.action === 'interactions/login', 'other'],
    ['a change', ({ spec }) => spec.action === 'patch', 'other'],
    [
      'a refusal',
      ({ spec }) => spec.action === 'create' && spec.resource?.kind === 'Policy',
      'other',
    ],
    [
      'a refusal of many',
      ({ spec, status }) => spec.principal === 'Anonymous' && !status.allowed,
      'other',
    ],
  ];

describe.each(stores)('how long a decision is kept, on %s', (store) => {
  let service: TestService;
  let tab: Tab;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags,
    });
    await createClient(service, 'app');
    ({ tab } = await signIn(service, 'ada@example.test'));
    await signIn(service, 'ada@example.test');
    await tab.get('accounts/~').is(200);
    await tab.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
    await tab.post('policies', { spec: { cedar: 'x' } }).fails(403, 'Forbidden');
    await service.tab().get('clients').fails(401, 'Unauthorized');
  });

  test.each(cases)('%s', async (_what, wanted, retention) => {
    const find = async (): Promise<DecisionObject | undefined> =>
      ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).find(wanted);
    const { metadata, status } = (await settles(find, Boolean))!;
    const { entry } = await service.storage.get(`objects/policydecisions/${metadata.name}`);
    expect(entry!.expires! - Date.parse(status.lastTimestamp)).toBe(hours[retention] * hour);
  });

  test('a sign-in takes at most 500 bytes with its key, and all answers show the same', async () => {
    const one = ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).find(
      (each) => each.spec.action === 'signIn' && !isSeries(each),
    )!;
    const { name } = one.metadata;
    const { entry } = await service.storage.get(`objects/policydecisions/${name}`);
    expect(entry!.key.length + entry!.value.length).toBeLessThanOrEqual(500);
    const got = (await tab.get(`policydecisions/${name}`).is(200)).body;
    const { metadata, spec, status } = one;
    expect(got).toEqual({
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'PolicyDecision',
      ...JSON.parse(JSON.stringify({ metadata, spec, status })),
    });
    const { items } = (await tab.get('policydecisions').is(200)).body;
    expect(items.find((each: typeof got) => each.metadata.name === name)).toEqual(got);
  });
});
