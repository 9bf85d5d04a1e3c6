import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type AnyKind, kindsOf } from '../../apiserver/library/index.js';
import { defineKind } from '../../kinds/define-kind.js';
import { uniqueKey } from '../../registry/encoded-object.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { type Answer, group, LibraryServer, mediaTypes, verbs } from './fixture.js';

const common = { description: 'A fish.', verbs, columns: {}, status: z.object({}) };
const define = kindsOf({ group, version: 'v1' });

/** What the hooks saw: the name, and whether the object before and after was there. */
const commits: [string, 'created' | 'changed' | 'removed'][] = [];
const Flunder = define({
  ...common,
  kind: 'Flunder',
  resource: 'flunders',
  hasStatusSubresource: true,
  spec: z.object({
    size: z.number().int().max(9).default(1).describe('How big.'),
    tag: z.string().optional().describe('Unique.'),
  }),
  unique: { tag: ({ spec }) => spec.tag },
  strategy: {
    beforeCommit(tx, next, old) {
      const written = old ? 'changed' : 'created';
      const what = next ? written : 'removed';
      tx.after(() => commits.push([(next ?? old)!.metadata.name, what]));
    },
  },
});
/** Kinds that take none, each for a reason of its own. */
const Expiring = define({
  ...common,
  kind: 'Expiring',
  resource: 'expirings',
  spec: z.object({}),
  expires: () => Date.now() + 3_600_000,
});
const Stepwise: AnyKind = define({
  ...common,
  kind: 'Stepwise',
  resource: 'stepwises',
  spec: z.object({}),
  strategy: { beginDelete: (tx, { metadata }) => tx.erase(Stepwise, metadata.name) },
});
const Without = kindsOf({ group, version: 'v1', allowsFinalizers: false })({
  ...common,
  kind: 'Without',
  resource: 'withouts',
  spec: z.object({}),
});
const one = 'example.com/one';
const other = 'example.com/other';

afterAll(stopAll);

describe.each(stores)('finalizers on %s', (store) => {
  const library = new LibraryServer(store, [Flunder, Expiring, Stepwise, Without]);
  const flunders = 'v1/flunders';
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

  async function create(finalizers: readonly string[] = [one], spec: object = {}): Promise<string> {
    const name = library.newName();
    const { code, body } = await library.ask('POST', flunders, {
      metadata: { name, finalizers },
      spec,
    });
    expect([code, body.metadata.finalizers ?? []]).toEqual([201, finalizers]);
    return `${flunders}/${name}`;
  }

  /** Every road to a deletion. */
  const deletions: [string, (path: string) => Promise<unknown>][] = [
    ['DELETE', (path) => library.ask('DELETE', path)],
    [
      'deletecollection',
      (path) => library.ask('DELETE', `${flunders}?fieldSelector=metadata.name=${nameOf(path)}`),
    ],
    [
      'a transaction',
      (path) => library.server.store.systemCall().change((tx) => tx.delete(Flunder, nameOf(path))),
    ],
  ];

  /** Every road to other finalizers. */
  const changes: [string, (path: string, finalizers: readonly string[]) => Promise<Answer>][] = [
    [
      'a PUT',
      async (path, finalizers) => {
        const { metadata, spec } = await library.get(path);
        return library.ask('PUT', path, { metadata: { ...metadata, finalizers }, spec });
      },
    ],
    [
      'a merge patch',
      (path, finalizers) =>
        library.ask('PATCH', path, { metadata: { finalizers } }, mediaTypes.merge),
    ],
    [
      'a JSON patch',
      (path, finalizers) =>
        library.ask(
          'PATCH',
          path,
          [{ op: 'add', path: '/metadata/finalizers', value: finalizers }],
          mediaTypes.json,
        ),
    ],
    [
      'an apply',
      (path, finalizers) =>
        library.ask(
          'PATCH',
          `${path}?fieldManager=owner`,
          {
            apiVersion: `${group}/v1`,
            kind: 'Flunder',
            metadata: { name: nameOf(path), finalizers },
            spec: {},
          },
          mediaTypes.apply,
        ),
    ],
    [
      'a transaction',
      async (path, finalizers) => {
        const answer = { code: 200, body: {}, warning: null };
        return library.server.store
          .systemCall()
          .change((tx) =>
            tx.update(Flunder, nameOf(path), ({ metadata }) => {
              metadata.finalizers = [...finalizers];
            }),
          )
          .then(
            () => answer,
            (error) => ({ ...answer, code: error.code, body: error.toStatus?.() ?? error }),
          );
      },
    ],
  ];
  /** Creates one whose finalizers the manager of the apply owns, so that each road may remove them. */
  async function createApplied(finalizers: readonly string[]): Promise<string> {
    const path = `${flunders}/${library.newName()}`;
    const [, apply] = changes.find(([road]) => road === 'an apply')!;
    expect((await apply(path, finalizers)).code).toBe(201);
    return path;
  }

  test.each(deletions)('%s keeps an object that has one', async (_, remove) => {
    const path = await create();
    const before = await library.get(path);
    await remove(path);
    const { metadata, spec } = await library.get(path);
    expect(spec).toEqual(before.spec);
    expect(metadata).toEqual({
      ...before.metadata,
      resourceVersion: expect.not.stringMatching(`^${before.metadata.resourceVersion}$`),
      generation: 2,
      deletionTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      deletionGracePeriodSeconds: 0,
    });
    await remove(path);
    expect((await library.get(path)).metadata).toEqual(metadata);
  });

  test.each(deletions)('%s removes an object without one', async (_, remove) => {
    const path = await create([]);
    await remove(path);
    expect((await library.ask('GET', path)).code).toBe(404);
  });

  test.each(changes)('%s that removes the last one removes the object', async (_, change) => {
    const path = await createApplied([one, other]);
    const { metadata } = await library.get(path);
    const events = library.eventsUntilDeleted(path, metadata.resourceVersion);
    await library.ask('DELETE', path);
    expect((await change(path, [other])).code).toBe(200);
    expect((await library.get(path)).metadata.finalizers).toEqual([other]);
    expect((await change(path, [])).code).toBe(200);
    expect((await library.ask('GET', path)).code).toBe(404);
    expect((await events).map(([type, object]) => [type, object.metadata.finalizers])).toEqual([
      ['MODIFIED', [one, other]],
      ['MODIFIED', [other]],
      ['DELETED', [other]],
    ]);
    expect(commits.filter(([name]) => name === nameOf(path)).map(([, what]) => what)).toEqual([
      'created',
      'changed',
      'changed',
      'removed',
    ]);
  });

  test.each(changes)('%s adds one, but not during the deletion', async (_, change) => {
    const path = await createApplied([one]);
    expect((await change(path, [one, other])).code).toBe(200);
    expect((await library.get(path)).metadata.deletionTimestamp).toBeUndefined();
    await library.ask('DELETE', path);
    const { code, body } = await change(path, [one, other, 'example.com/late']);
    expect([code, body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueForbidden',
          field: 'metadata.finalizers',
          message:
            'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "example.com/late"',
        },
      ],
    ]);
    expect((await library.get(path)).metadata.finalizers).toEqual([one, other]);
  });

  test('the answer to a DELETE is the object while it stays, and a Status when it goes', async () => {
    const path = await create([one]);
    const kept = await library.ask('DELETE', path);
    expect([kept.code, kept.body]).toEqual([200, await library.get(path)]);
    await library.ask('PATCH', path, { metadata: { finalizers: null } }, mediaTypes.merge);
    const name = library.newName();
    await library.ask('POST', flunders, { metadata: { name }, spec: {} });
    const gone = await library.ask('DELETE', `${flunders}/${name}`);
    expect([gone.code, gone.body.kind, gone.body.status]).toEqual([200, 'Status', 'Success']);
  });

  test('a dry run and a precondition that does not hold change nothing', async () => {
    const path = await create();
    const before = await library.get(path);
    const dry = await library.ask('DELETE', `${path}?dryRun=All`);
    expect([dry.code, dry.body.metadata.deletionTimestamp]).toEqual([200, expect.any(String)]);
    const refused = await library.ask('DELETE', path, { preconditions: { uid: 'another' } });
    expect(refused.code).toBe(409);
    expect(await library.get(path)).toEqual(before);
  });

  test('what an object waits for keeps its unique values and its other fields', async () => {
    const tag = library.newName();
    const path = await create([one], { tag, size: 2 });
    await library.ask('DELETE', path);
    const taken = await library.ask('POST', flunders, {
      metadata: { name: library.newName() },
      spec: { tag },
    });
    expect(taken.code).toBe(409);
    const changed = await library.ask('PATCH', path, { spec: { size: 3 } }, mediaTypes.merge);
    expect([changed.code, changed.body.spec.size, changed.body.metadata.generation]).toEqual([
      200, 3, 3,
    ]);
    const status = await library.ask('PATCH', `${path}/status`, { status: {} }, mediaTypes.merge);
    expect([status.code, status.body.metadata.finalizers]).toEqual([200, [one]]);
    const { storage } = library.server.store;
    expect((await storage.get(uniqueKey(Flunder, 'tag', tag))).entry).toBeDefined();
    await library.ask('PATCH', path, { metadata: { finalizers: null } }, mediaTypes.merge);
    expect((await storage.get(uniqueKey(Flunder, 'tag', tag))).entry).toBeUndefined();
  });

  test('of two that remove one each at once the second removes the object', async () => {
    const path = await create([one, other]);
    await library.ask('DELETE', path);
    const without = (finalizer: string): Promise<unknown> =>
      library.server.store.systemCall().change((tx) =>
        tx.update(Flunder, nameOf(path), ({ metadata }) => {
          metadata.finalizers = metadata.finalizers!.filter((found) => found !== finalizer);
        }),
      );
    await Promise.all([without(one), without(other)]);
    expect((await library.ask('GET', path)).code).toBe(404);
  });

  test('an object that is not valid any more goes as well', async () => {
    const path = await create();
    const { storage } = library.server.store;
    const { entry } = await storage.get(`objects/flunders/${nameOf(path)}`);
    const text = entry!.value.toString('latin1').replace('"size":1', '"size":0.5');
    const value = Buffer.from(text, 'latin1');
    value.writeUInt32BE(entry!.value.readUInt32BE(0) + 2, 0);
    await storage.commit([], [{ put: entry!.key, value }]);
    const refused = await library.ask('PATCH', path, { spec: { tag: 'x' } }, mediaTypes.merge);
    expect(refused.code).toBe(422);
    expect((await library.ask('DELETE', path)).code).toBe(200);
    const last = { metadata: { finalizers: null } };
    expect((await library.ask('PATCH', path, last, mediaTypes.merge)).code).toBe(200);
    expect((await library.ask('GET', path)).code).toBe(404);
  });

  test('a create ignores when the deletion started', async () => {
    const name = library.newName();
    const { code, body } = await library.ask('POST', flunders, {
      metadata: { name, deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 9 },
      spec: {},
    });
    expect([
      code,
      body.metadata.deletionTimestamp,
      body.metadata.deletionGracePeriodSeconds,
    ]).toEqual([201, undefined, undefined]);
  });

  test.each([
    ['a name that is not qualified', ['example.com/one/two'], 'metadata.finalizers[0]'],
    ['the same one twice', [one, one], 'metadata.finalizers[1]'],
    ['both of the collector', ['orphan', 'foregroundDeletion'], 'metadata.finalizers'],
  ])('%s is refused', async (_, finalizers, field) => {
    const { code, body } = await library.ask('POST', flunders, {
      metadata: { name: library.newName(), finalizers },
      spec: {},
    });
    expect([code, body.details.causes[0].field]).toEqual([422, field]);
  });

  test('have owners, item by item', async () => {
    const path = await createApplied([one]);
    const added = await library.ask(
      'PATCH',
      `${path}?fieldManager=second`,
      {
        apiVersion: `${group}/v1`,
        kind: 'Flunder',
        metadata: { name: nameOf(path), finalizers: [other] },
      },
      mediaTypes.apply,
    );
    expect(added.body.metadata.finalizers).toEqual([one, other]);
    const [, apply] = changes.find(([road]) => road === 'an apply')!;
    expect((await apply(path, [])).body.metadata.finalizers).toEqual([other]);
  });

  test.each([
    ['that expires', 'expirings'],
    ['that deletes in steps', 'stepwises'],
    ['of a group without them', 'withouts'],
  ])('a kind %s refuses them and deletes at once by any policy', async (_, resource) => {
    const name = library.newName();
    const create = (metadata: object): Promise<Answer> =>
      library.ask('POST', `v1/${resource}`, { metadata: { name, ...metadata }, spec: {} });
    const refused = await create({ finalizers: [one] });
    expect([refused.code, refused.body.details.causes[0]]).toEqual([
      422,
      {
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message: 'Forbidden: finalizers are not served',
      },
    ]);
    for (const propagationPolicy of ['Foreground', 'Orphan', 'Background']) {
      expectFor(propagationPolicy, (await create({ finalizers: [] })).code).toBe(201);
      const path = `v1/${resource}/${name}`;
      expectFor(
        propagationPolicy,
        (await library.ask('DELETE', path, { propagationPolicy })).code,
      ).toBe(200);
      expectFor(propagationPolicy, (await library.ask('GET', path)).code).toBe(404);
    }
  });
});

test('no kind of the service takes finalizers', () => {
  const kind = defineKind({ ...common, kind: 'Thing', resource: 'things', spec: z.object({}) });
  expect(kind.allowsFinalizers).toBe(false);
  expect(Flunder.allowsFinalizers).toBe(true);
});
