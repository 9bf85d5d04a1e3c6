import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { indexRows, sortKey } from '../../../registry/store/lifecycle/index-rows.js';
import { prefixRange } from '../../../storage/storage.js';
import { expectFor } from '../../support/expect-for.js';
import { until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** Addresses with the names of those who have one. */
const people = {
  'zoe@example.test': 'Zoë Ångström',
  'amara.okafor@harbour.test': 'Amara Okafor',
  'bob+shop@example.test': undefined,
  'o.brien@example.test': "Liam O'Brien",
  'ren@example.test': '連 太郎',
  'eve@example.test': 'amara van der Berg',
} as const;
const address = 'status.email.address';

describe.each(stores)('ordered lists and searches, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    for (const [email, displayName] of Object.entries(people)) {
      await operator
        .post('accounts', { spec: { email, ...(displayName && { displayName }) } })
        .is(201);
    }
  });
  const list = (query: Record<string, string>, tab = operator) =>
    tab.get(`accounts?${new URLSearchParams(query)}`);
  const addresses = async (query: Record<string, string>, tab = operator): Promise<string[]> =>
    (await list(query, tab).is(200)).body.items.map(({ status }: any) => status.email.address);
  const find = (...words: string[]): Promise<string[]> =>
    addresses({ fieldSelector: words.map((word) => `search=${word}`).join(',') });

  test.each([
    [
      'spec.displayName',
      ['amara.okafor@harbour.test', 'eve@example.test', 'o.brien@example.test', 'zoe@example.test'],
    ],
    [
      address,
      [
        'amara.okafor@harbour.test',
        'bob+shop@example.test',
        'eve@example.test',
        'o.brien@example.test',
        'op@example.test',
        'ren@example.test',
        'zoe@example.test',
      ],
    ],
  ])('a list is ordered by %s, without case and marks', async (orderBy, expected) => {
    const all = await addresses({ orderBy });
    expect(all.slice(0, expected.length)).toEqual(expected);
    expect(all).toHaveLength(Object.keys(people).length + 1);
  });

  test('pages of an order are of one revision, and their tokens for it alone', async () => {
    const seen: string[] = [];
    let query: Record<string, string> = { orderBy: address, limit: '2' };
    for (let page = 0; page < 10; page += 1) {
      const { body } = await list(query).is(200);
      seen.push(...body.items.map(({ status }: any) => status.email.address));
      if (!body.metadata.continue) break;
      const next = { limit: '2', continue: body.metadata.continue };
      const other = await list({ ...next, orderBy: 'spec.displayName' });
      expect([other.code, other.body.message]).toEqual([400, 'continue key is not valid']);
      query = { ...next, orderBy: address };
      if (page === 0) {
        await operator.post('accounts', { spec: { email: 'c-late@example.test' } }).is(201);
      }
    }
    expect(seen).toEqual([...Object.keys(people), 'op@example.test'].sort());
    const [late] = (await list({ fieldSelector: `${address}=c-late@example.test` }).is(200)).body
      .items;
    await operator.delete(`accounts/${late.metadata.name}`);
    await until(async () => (await find('c-late')).length === 0);
  });

  test('the latest sign-ins are first, by days', async () => {
    const names = new Map<string, string>(
      (await list({}).is(200)).body.items.map(({ metadata, status }: any) => [
        status.email.address,
        metadata.name,
      ]),
    );
    const signedIn = (email: string, daysAgo: number): Promise<unknown> =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.update(Account, names.get(email)!, ({ status }) => {
          status.lastSignInTimestamp = toTimestamp(Date.now() - daysAgo * dayMs);
        }),
      );
    await signedIn('zoe@example.test', 2);
    await signedIn('eve@example.test', 40);
    await signedIn('ren@example.test', 3);
    expect((await addresses({ orderBy: 'status.lastSignInTimestamp' })).slice(0, 4)).toEqual([
      'op@example.test',
      'zoe@example.test',
      'ren@example.test',
      'eve@example.test',
    ]);
  });

  test('a search finds by the beginning of any word of a name or address', async () => {
    const finds: [string[], string[]][] = [
      [['zoe'], ['zoe@example.test']],
      [['ANG'], ['zoe@example.test']],
      [['Ångström'], ['zoe@example.test']],
      [['okafor@harb'], ['amara.okafor@harbour.test']],
      [['amara'], ['amara.okafor@harbour.test', 'eve@example.test']],
      [['amara', 'berg'], ['eve@example.test']],
      [['berg', 'amara'], ['eve@example.test']],
      [['harbour'], ['amara.okafor@harbour.test']],
      [['brien'], ['o.brien@example.test']],
      [['shop'], ['bob+shop@example.test']],
      [['連'], ['ren@example.test']],
      [['mara'], []],
    ];
    for (const [words, expected] of finds) {
      expectFor(words.join(' '), (await find(...words)).sort()).toEqual([...expected].sort());
    }
    const paged = await list({ fieldSelector: 'search=amara', limit: '1' }).is(200);
    const { continue: next } = paged.body.metadata;
    const rest = await addresses({ fieldSelector: 'search=amara', limit: '1', continue: next });
    expect([paged.body.items[0].status.email.address, ...rest].sort()).toEqual([
      'amara.okafor@harbour.test',
      'eve@example.test',
    ]);
  });

  test('rows follow every change of their object', async () => {
    const [ada] = [
      await operator.post('accounts', { spec: { email: 'ada@example.test' } }).is(201),
    ];
    const { name } = ada!.body.metadata;
    const rows = async (): Promise<string[]> =>
      (await service.storage.list(prefixRange('index/accounts/'))).entries
        .map(({ key }) => key)
        .filter((key) => key.includes(name))
        .sort();
    const expected = async (): Promise<string[]> =>
      [...indexRows(Account, (await service.store.stored(Account, name))!.object)].sort();
    expect(await rows()).toEqual(await expected());
    for (const spec of [
      { displayName: 'Ada Lovelace' },
      { displayName: 'Countess' },
      { displayName: null, givenName: 'Ada' },
    ]) {
      await operator.patch(`accounts/${name}`, { spec }).is(200);
      expect(await rows()).toEqual(await expected());
    }
    expect(await find('lovelace')).toEqual([]);
    await operator.delete(`accounts/${name}`);
    await until(async () => (await rows()).length === 0);
  });

  test('who may not list all accounts finds and orders none of the others', async () => {
    const person = (await signIn(service, 'person@example.test')).tab;
    const ordered = await list({ orderBy: address }, person);
    expect([ordered.code, ordered.body.message]).toEqual([
      400,
      'orderBy is for those who may list all objects',
    ]);
    expect(await addresses({ fieldSelector: 'search=amara' }, person)).toEqual([]);
    expect(await addresses({ fieldSelector: 'search=pers' }, person)).toEqual([
      'person@example.test',
    ]);
  });

  test.each([
    [{ orderBy: 'spec.locale' }, 400, /^orderBy must be one of spec.displayName, status.email/],
    [{ orderBy: '' }, 400, /orderBy/],
    [{ orderBy: address, fieldSelector: 'search=a' }, 400, /^orderBy is not for a search/],
    [{ orderBy: address, watch: 'true' }, 400, /^orderBy is for lists alone/],
    [{ fieldSelector: 'search!=a' }, 400, /^"search" is not a known field selector/],
  ])('%j is %i', async (query, code, message) => {
    const answer = await list(query as Record<string, string>);
    expect(answer.code).toBe(code);
    expect(answer.body.message).toMatch(message);
  });

  test('a kind without orders says so', async () => {
    const answer = await operator.get('groups?orderBy=metadata.name');
    expect([answer.code, answer.body.message]).toEqual([
      400,
      'groups have no order but that of their names',
    ]);
  });

  test('an index of a store of before is completed, and its lists are 503 until then', async () => {
    const { storage } = service;
    const { entries } = await storage.list(prefixRange('index/accounts/'));
    for (const { key } of entries) await storage.commit([], [{ delete: key }]);
    await storage.commit([], [{ delete: 'meta/indexes/accounts' }]);
    const { Indexes } = await import('../../../registry/store/replicas/indexes.js');
    const { createLog } = await import('../../../observability/log.js');
    const indexes = new Indexes(storage, [Account]);
    expect(indexes.isComplete(Account)).toBe(false);
    const stop = await indexes.start(createLog('silent'));
    await until(() => indexes.isComplete(Account));
    await stop();
    const after = await storage.list(prefixRange('index/accounts/'));
    expect(after.entries.map(({ key }) => key)).toEqual(entries.map(({ key }) => key));
  });
});

test('keys sort without case and marks, spaces first and other scripts last', () => {
  const texts = ['Zoë', 'amara', 'Amara Okafor', 'ÅNGSTRÖM', 'Émile', 'Иван', '連', '  b  c '];
  const sorted = [...texts].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  expect(sorted).toEqual([
    'amara',
    'Amara Okafor',
    'ÅNGSTRÖM',
    '  b  c ',
    'Émile',
    'Zoë',
    'Иван',
    '連',
  ]);
  for (const text of texts) expect(sortKey(text)).toMatch(/^[!-~]{1,64}$/);
});
