import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

/**
 * What a read may ask for: the versions of the sample group as it was, as it was changed, and where
 * history begins; none that is there yet; none at all.
 */
const versions = ['unset', 'empty', '0', 'gone', 'old', 'now', 'newer', 'x', '-1', '01'] as const;
type Version = (typeof versions)[number];
/** The name of the sample as it is shown, or why it is not. */
type Outcome = 'first' | 'latest' | 400 | 410 | 422 | 504;

const malformed = { x: 400, '-1': 400, '01': 400 } as const;
const latest: Record<Version, Outcome> = {
  unset: 'latest',
  empty: 'latest',
  '0': 'latest',
  gone: 'latest',
  old: 'latest',
  now: 'latest',
  newer: 504,
  ...malformed,
};
const unset = { unset: 422, empty: 422 } as const;

/** The table of lists: resourceVersionMatch, limit, and what comes of each version. */
const table: readonly [match: string, limit: string, outcomes: Record<Version, Outcome>][] = [
  ['', '', latest],
  ['', '500', { ...latest, gone: 410, old: 'first' }],
  ['NotOlderThan', '', { ...latest, ...unset }],
  ['NotOlderThan', '500', { ...latest, ...unset }],
  ['Exact', '', { ...latest, ...unset, '0': 422, gone: 410, old: 'first' }],
  ['Exact', '500', { ...latest, ...unset, '0': 422, gone: 410, old: 'first' }],
];

describe.each(stores)('the version a read asks for (4.1, 12), on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let at: Record<Version, string>;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    const gone = (
      await operator
        .post('groups', {
          metadata: { name: 'sample', labels: { of: 'table' } },
          spec: { displayName: 'forgotten' },
        })
        .is(201)
    ).body.metadata.resourceVersion;
    const old = (await operator.patch('groups/sample', { spec: { displayName: 'first' } }).is(200))
      .body.metadata.resourceVersion;
    await service.storage.compact(Number(old));
    await operator
      .post('groups', { metadata: { name: 'second' }, spec: { displayName: 'second' } })
      .is(201);
    const now = (await operator.patch('groups/sample', { spec: { displayName: 'latest' } }).is(200))
      .body.metadata.resourceVersion;
    at = {
      unset: '',
      empty: '',
      0: '0',
      gone,
      old,
      now,
      newer: String(Number(now) + 1_000_000),
      x: 'x',
      '-1': '-1',
      '01': '01',
    };
  });
  afterAll(stopAll);

  const query = (...parts: [name: string, value: string | undefined][]): string =>
    parts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
      .join('&');
  const asked = (version: Version): [string, string | undefined] => [
    'resourceVersion',
    version === 'unset' ? undefined : at[version],
  ];
  const tooNew = (body: any): void => {
    expect(body).toMatchObject({
      reason: 'Timeout',
      message: expect.stringMatching(
        new RegExp(`^Too large resource version: ${at.newer}, current: \\d+$`),
      ),
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
    });
  };

  test('of a list: every cell of the table', async () => {
    const rows = await Promise.all(
      table.map(async ([match, limit, outcomes]) => [
        `${match} ${limit}`,
        Object.fromEntries(
          await Promise.all(
            versions.map(async (version): Promise<[Version, Outcome]> => {
              const { code, body } = await operator.get(
                `groups?${query(['labelSelector', 'of=table'], ['resourceVersionMatch', match || undefined], ['limit', limit || undefined], asked(version))}`,
              );
              if (code === 504) tooNew(body);
              if (code === 422) {
                expectFor(version, body.details.causes[0].field).toEqual('resourceVersionMatch');
              }
              if (code !== 200) return [version, code as Outcome];
              const {
                metadata,
                items: [item],
              } = body;
              if (outcomes[version] === 'first') {
                expectFor(version, [
                  metadata.resourceVersion,
                  item.metadata.resourceVersion,
                ]).toEqual([at.old, at.old]);
              } else {
                expectFor(version, Number(metadata.resourceVersion) >= Number(at.now)).toEqual(
                  true,
                );
              }
              return [version, item.spec.displayName];
            }),
          ),
        ),
      ]),
    );
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(table.map(([match, limit, outcomes]) => [`${match} ${limit}`, outcomes])),
    );
  });

  test('of a list with a match that there is not, or one beside a token', async () => {
    for (const match of ['Other', 'exact', 'NotOlderThan,Exact']) {
      await operator
        .get(`groups?${query(['resourceVersionMatch', match], asked('now'))}`)
        .fails(422, 'Invalid', 'resourceVersionMatch');
    }
    const { metadata } = (await operator.get('groups?limit=1').is(200)).body;
    const { continue: token } = metadata;
    for (const match of ['Exact', 'NotOlderThan']) {
      for (const version of ['unset', 'now'] as const) {
        await operator
          .get(
            `groups?${query(['limit', '1'], ['continue', token], ['resourceVersionMatch', match], asked(version))}`,
          )
          .fails(422, 'Invalid', 'resourceVersionMatch');
      }
    }
    for (const version of ['old', 'now', 'newer'] as const) {
      await operator
        .get(`groups?${query(['limit', '1'], ['continue', token], asked(version))}`)
        .fails(400, 'BadRequest');
    }
    for (const version of ['unset', 'empty', '0'] as const) {
      expect(
        (
          await operator
            .get(`groups?${query(['limit', '1'], ['continue', token], asked(version))}`)
            .is(200)
        ).body.metadata.resourceVersion,
      ).toBe(metadata.resourceVersion);
    }
  });

  test.each(['true', 'false', ''])(
    'of a list with sendInitialEvents=%p is 422, with any other parameters',
    async (value) => {
      for (const more of [
        '',
        '&resourceVersionMatch=NotOlderThan&resourceVersion=0',
        '&limit=1&watch=false',
      ]) {
        await operator
          .get(`groups?sendInitialEvents=${value}${more}`)
          .fails(422, 'Invalid', 'sendInitialEvents');
      }
    },
  );

  test('of one object: the latest, whichever it is not to be older than', async () => {
    const { body } = await operator.get('groups/sample').is(200);
    for (const version of ['empty', '0', 'gone', 'old', 'now'] as const) {
      expectFor(
        version,
        (await operator.get(`groups/sample?${query(asked(version))}`).is(200)).body,
      ).toEqual(body);
    }
    tooNew((await operator.get(`groups/sample?${query(asked('newer'))}`).is(504)).body);
    for (const version of ['x', '-1', '01'] as const) {
      await operator.get(`groups/sample?${query(asked(version))}`).fails(400, 'BadRequest');
    }
    await operator.get(`groups/absent?${query(asked('now'))}`).fails(404, 'NotFound');
    await service
      .tab()
      .get(`groups/sample?${query(asked('now'))}`)
      .fails(401, 'Unauthorized');
  });

  test('one that comes while it waits is not too new', async () => {
    const next = Number((await operator.get('groups').is(200)).body.metadata.resourceVersion) + 3;
    const waiting = [
      `groups/sample?resourceVersion=${next}`,
      `groups?resourceVersion=${next}`,
      `groups?resourceVersion=${next}&resourceVersionMatch=NotOlderThan`,
    ].map((path) => Promise.resolve(operator.get(path)));
    // The service writes in the background too, so `next` may be between two patches.
    let ofObject = 0;
    for (let i = 0; i < 3; i += 1) {
      const patch = operator.patch('groups/sample', { spec: { displayName: `later ${i}` } });
      const version = Number((await patch.is(200)).body.metadata.resourceVersion);
      if (version <= next) ofObject = version;
    }
    for (const [i, answer] of (await Promise.all(waiting)).entries()) {
      const least = i === 0 ? ofObject : next;
      expect([answer.code, Number(answer.body.metadata.resourceVersion) >= least]).toEqual([
        200,
        true,
      ]);
    }
  });
});
