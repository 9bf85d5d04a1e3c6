import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { duration } from '../../../apiserver/codec/table.js';
import { kinds } from '../../../kinds/index.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { register } from '../../support/people/passkeys.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

const as = (kind: string, version = 'v1'): string =>
  `application/json;as=${kind};v=${version};g=meta.k8s.io`;
/** What kubectl get sends. */
const kubectl = `${as('Table')},${as('Table', 'v1beta1')},application/json`;

let service: TestService;
let operator: Tab;
let ada: Tab;
beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  [operator, ada] = [
    (await signIn(service, 'op@example.test')).tab,
    (await signIn(service, 'ada@example.test')).tab,
  ];
  for (const [name, members] of [
    ['a', []],
    ['b', ['x@example.test', 'y@example.test']],
  ] as const) {
    await operator
      .post('groups', {
        metadata: { name, labels: { of: 'views' } },
        spec: { displayName: `Group ${name}`, members },
      })
      .is(201);
  }
});
afterAll(stopAll);

const asked = (tab: Tab, path: string, accept: string) => tab.get(path, { headers: { accept } });
const ours = 'groups?labelSelector=of%3Dviews';

describe('tables (4.2)', () => {
  test('of a list have a cell a column, Name first and Age last', async () => {
    const plain = (await operator.get(ours).is(200)).body;
    for (const [accept, version] of [
      [kubectl, 'v1'],
      [as('Table', 'v1beta1'), 'v1beta1'],
      [`${as('Table', 'v9')},${as('Table')}`, 'v1'],
      [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${as('Table')}`, 'v1'],
    ] as const) {
      const { body, headers } = await asked(operator, ours, accept).is(200);
      expect([headers['content-type'], headers['cache-control']]).toEqual([
        'application/json',
        'no-store',
      ]);
      expect([body.kind, body.apiVersion, body.metadata]).toEqual([
        'Table',
        `meta.k8s.io/${version}`,
        plain.metadata,
      ]);
      expect(
        body.columnDefinitions.map((columnDefinition: any) => [
          columnDefinition.name,
          columnDefinition.type,
          columnDefinition.format,
          columnDefinition.priority,
        ]),
      ).toEqual([
        ['Name', 'string', 'name', 0],
        ['Display-Name', 'string', '', 0],
        ['Members', 'string', '', 0],
        ['Age', 'string', '', 0],
      ]);
      expect(body.rows.map((row: any) => row.cells)).toEqual([
        ['a', 'Group a', '0', expect.stringMatching(/^\d+s$/)],
        ['b', 'Group b', '2', expect.stringMatching(/^\d+s$/)],
      ]);
      expect(body.rows.map((row: any) => row.object)).toEqual(
        plain.items.map((item: any) => ({
          kind: 'PartialObjectMetadata',
          apiVersion: `meta.k8s.io/${version}`,
          metadata: item.metadata,
        })),
      );
    }
  });

  /** The columns of a kind that the table leaves out, which are as it says. */
  const columnsOf = (resource: string): string =>
    Object.keys(kinds.find((kind) => kind.resource === resource)!.columns).join(' ');

  test('every kind has the columns it should, wide ones with a priority', async () => {
    const columns: Record<string, string> = {
      interactions: 'Phase Client',
      sessions: 'Account Device (Methods)',
      accounts: 'Email Disabled Passkeys Display-Name (Last-Sign-In)',
      passkeys: 'Display-Name Device-Type Last-Used (Account)',
      grants: 'Account Client Scopes',
      policies: 'Mode In-Force Rules (Author)',
      policydecisions: 'Principal Action Resource Allowed Count (Outcome) (Network) (Program)',
      claimsreviews: 'Client Provider Outcome',
      mockmessages: 'To Subject',
      clients: 'Display-Name Type (PKCE)',
      recoveries: 'Account Phase Ready',
      claimsproviders: 'Display-Name URL',
      audiences: 'Display-Name Identifier Tokens',
      groups: 'Display-Name Members',
      accessrequests: 'Group Phase Until Account (Reason)',
      invitations: 'Email Phase Groups (Until) (Invited-By)',
      appearances: 'Display-Name Accent',
      settings: 'Set Revision (Author)',
      hourlycounts: 'Sign-Ins Failed Mails Refused-By-Rule Refused-By-Limit',
      replicas: 'Ready Release Store Sign-Ins (Failed-Checks)',
    };
    await (await register(service, ada)).answer.is(201);
    const { resources } = (await operator.get('/api/v1beta1').is(200)).body;
    const main = resources
      .map((resource: any) => resource.name as string)
      .filter((name: string) => !name.includes('/'));
    expect(main).toEqual(expect.arrayContaining(Object.keys(columns)));
    for (const name of main) {
      const { body } = await asked(operator, name, kubectl).is(200);
      expectFor(
        name,
        body.columnDefinitions
          .map((columnDefinition: any) =>
            columnDefinition.priority === 1 ? `(${columnDefinition.name})` : columnDefinition.name,
          )
          .join(' '),
      ).toEqual(`Name ${columns[name] ?? columnsOf(name)} Age`);
      for (const { cells } of body.rows) {
        expectFor(name, [
          cells.length,
          cells.filter(
            (cell: unknown) =>
              typeof cell !== 'string' || cell === '' || cell === 'undefined' || cell === 'null',
          ),
        ]).toEqual([body.columnDefinitions.length, []]);
      }
    }
    const rows = async (tab: Tab, path: string) =>
      (await asked(tab, path, kubectl).is(200)).body.rows.map(
        (row: any) => row.cells,
      ) as string[][];
    expect((await rows(operator, 'policies'))[0]!.slice(0, 2)).toEqual(['p-1', 'Enforce']);
    expect((await rows(ada, 'passkeys'))[0]!.slice(3, 4)).toEqual(['<none>']);
    expect((await rows(operator, 'accounts')).map((cells) => cells.slice(1, 4))).toContainEqual([
      'ada@example.test',
      'false',
      '1',
    ]);
  });

  test('of one object a row; of a page what a page has', async () => {
    const { metadata } = (await operator.get('groups/b').is(200)).body;
    const { body } = await asked(operator, 'groups/b', kubectl).is(200);
    expect([
      body.metadata,
      body.columnDefinitions.length,
      body.rows.length,
      body.rows[0].cells[0],
    ]).toEqual([{ resourceVersion: metadata.resourceVersion }, 4, 1, 'b']);
    const first = (await asked(operator, 'groups?limit=1', kubectl).is(200)).body;
    expect([
      first.rows.length,
      typeof first.metadata.continue,
      first.metadata.remainingItemCount,
    ]).toEqual([1, 'string', expect.any(Number)]);
    const next = (
      await asked(operator, `groups?limit=500&continue=${first.metadata.continue}`, kubectl).is(200)
    ).body;
    expect([next.metadata.resourceVersion, next.metadata.continue, next.rows.length]).toEqual([
      first.metadata.resourceVersion,
      undefined,
      first.metadata.remainingItemCount,
    ]);
    await asked(operator, 'groups/absent', kubectl).fails(404, 'NotFound');
  });

  test('includeObject gives metadata, the whole or nothing, and is nothing else', async () => {
    const whole = (await operator.get('groups/a').is(200)).body;
    const object = async (query: string) =>
      (await asked(operator, `groups/a${query}`, kubectl).is(200)).body.rows[0].object;
    expect(await object('?includeObject=Object')).toEqual(whole);
    expect(await object('?includeObject=None')).toBeNull();
    for (const query of ['', '?includeObject=Metadata']) {
      expect((await object(query)).kind).toBe('PartialObjectMetadata');
    }
    for (const path of ['groups/a', 'groups']) {
      await asked(operator, `${path}?includeObject=metadata`, kubectl).fails(400, 'BadRequest');
    }
    expect((await operator.get('groups/a?includeObject=bogus').is(200)).body).toEqual(whole);
  });

  test('what is computed for each caller is computed in rows too', async () => {
    const mine = (await asked(ada, 'sessions?includeObject=Object', kubectl).is(200)).body.rows.map(
      (row: any) => row.object,
    );
    expect(mine).toEqual((await ada.get('sessions').is(200)).body.items);
    expect(mine.some((one: any) => one.status.current)).toBe(true);
    expect(
      (await asked(ada, 'accounts', kubectl).is(200)).body.rows.map((row: any) => row.cells[1]),
    ).toEqual(['ada@example.test']);
    await asked(ada, 'groups', kubectl).fails(403, 'Forbidden');
    await asked(service.tab(), 'groups', kubectl).fails(401, 'Unauthorized');
    const { bytes } = await asked(ada, 'passkeys?includeObject=Object', kubectl).is(200);
    expect(bytes.toString()).not.toMatch(/"internal":|credentialID/);
  });
});

describe('metadata alone (4.2)', () => {
  test('of a list and of one object; the other form is not there', async () => {
    const plain = (await operator.get(ours).is(200)).body;
    for (const version of ['v1', 'v1beta1']) {
      const apiVersion = `meta.k8s.io/${version}`;
      const items = plain.items.map((item: any) => ({
        kind: 'PartialObjectMetadata',
        apiVersion,
        metadata: item.metadata,
      }));
      const { body } = await asked(operator, ours, as('PartialObjectMetadataList', version)).is(
        200,
      );
      expect(body).toEqual({
        kind: 'PartialObjectMetadataList',
        apiVersion,
        metadata: { ...plain.metadata, resourceVersion: body.metadata.resourceVersion },
        items,
      });
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(plain.metadata.resourceVersion),
      ); // later only where something else was written
      expect(
        (await asked(operator, 'groups/a', as('PartialObjectMetadata', version)).is(200)).body,
      ).toEqual(items[0]);
      await asked(operator, 'groups/a', as('PartialObjectMetadataList', version)).fails(
        406,
        'NotAcceptable',
      );
      await asked(operator, ours, as('PartialObjectMetadata', version)).fails(406, 'NotAcceptable');
    }
    expect(
      (
        await asked(operator, 'groups/a', `${as('PartialObjectMetadataList')},application/json`).is(
          200,
        )
      ).body.kind,
    ).toBe('Group');
  });

  test('a policy sees that only metadata is asked for', async () => {
    const former = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    await operator
      .post('policies', {
        spec: {
          cedar: `${former}\npermit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is Group) when { context.metadataOnly };\n`,
        },
      })
      .is(201);
    const names = (
      await asked(ada, 'groups', as('PartialObjectMetadataList')).is(200)
    ).body.items.map((item: any) => item.metadata.name);
    expect(names).toEqual(expect.arrayContaining(['a', 'b']));
    await asked(ada, 'groups/a', as('PartialObjectMetadata')).is(200);
    for (const accept of [
      kubectl,
      'application/json',
      `application/json,${as('PartialObjectMetadataList')}`,
    ]) {
      await asked(ada, 'groups', accept).fails(403, 'Forbidden');
    }
    for (const query of ['', '?includeObject=None']) {
      await asked(ada, `groups/a${query}`, kubectl).fails(404, 'NotFound');
    }
    const stream = await new Stream(ada, 'groups?watch=true', as('PartialObjectMetadata')).until(
      ({ events }) => events.length >= 2,
    );
    expect(new Set(stream.events.map(({ object }) => object.kind))).toEqual(
      new Set(['PartialObjectMetadata']),
    );
    stream.close();
    await operator.post('policies', { spec: { cedar: former } }).is(201);
  });
});

describe('what cannot be served', () => {
  test('is 406, on objects, lists, watches and writes', async () => {
    for (const accept of [
      'application/XYZ',
      'application/vnd.kubernetes.protobuf',
      'application/cbor',
      'text/yaml',
      'application/json;q=0',
      as('Table', 'v2'),
      as('Bogus'),
      'application/json;as=Table;v=v1;g=other',
    ]) {
      for (const path of ['groups/a', 'groups', 'groups?watch=true', 'groups/a?watch=true']) {
        await asked(operator, path, accept).fails(406, 'NotAcceptable');
      }
    }
    await operator
      .post(
        'groups',
        { metadata: { name: 'never' }, spec: { displayName: 'x' } },
        { headers: { accept: as('Table') } },
      )
      .fails(406, 'NotAcceptable');
    await operator.get('groups/never').fails(404, 'NotFound');
  });

  test('while JSON is good for a caller that takes anything', async () => {
    for (const accept of [
      '*/*',
      'application/*',
      'application/json',
      'application/json, */*;q=0.8',
      'application/json;stream=watch',
      'application/vnd.kubernetes.protobuf,application/json',
      'application/json;charset=utf-8',
      undefined,
    ]) {
      expectFor(
        accept,
        (await operator.get('groups/a', { headers: { accept } }).is(200)).body.kind,
      ).toEqual('Group');
    }
  });
});

describe('watches', () => {
  test('as tables: columns in the first event alone, bookmarks without rows', async () => {
    const at = (await operator.get('groups').is(200)).body.metadata.resourceVersion;
    const stream = new Stream(
      operator,
      `groups?watch=true&resourceVersion=${at}&allowWatchBookmarks=true&timeoutSeconds=3`,
      kubectl,
    );
    await operator
      .post('groups', { metadata: { name: 'seen' }, spec: { displayName: 'Seen' } })
      .is(201);
    const { body } = await operator
      .patch('groups/seen', { spec: { displayName: 'Changed' } })
      .is(200);
    await operator.delete('groups/seen').is(200);
    await stream.until(({ ended }) => ended);
    expect(
      stream.events.map(({ type, object }) => [
        type,
        object.kind,
        object.columnDefinitions.length,
        object.rows.map((row: any) => row.cells.slice(0, 2)),
      ]),
    ).toEqual([
      ['ADDED', 'Table', 4, [['seen', 'Seen']]],
      ['MODIFIED', 'Table', 0, [['seen', 'Changed']]],
      ['DELETED', 'Table', 0, [['seen', 'Changed']]],
      ['BOOKMARK', 'Table', 0, []],
    ]);
    expect(stream.events[1]!.object.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    for (const {
      object: { metadata, rows },
    } of stream.events.slice(0, 3)) {
      expect(rows[0].object.metadata.resourceVersion).toBe(metadata.resourceVersion);
    }
    expect(Number(stream.events[2]!.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(body.metadata.resourceVersion),
    );
  });

  test('with what there is first, for one object, and in every form at once', async () => {
    const streams = [kubectl, as('PartialObjectMetadata'), 'application/json'].map(
      (accept) => new Stream(operator, 'groups/a?watch=true', accept),
    );
    const more = [
      new Stream(operator, 'groups/a?watch=true', kubectl),
      new Stream(operator, 'groups/a?watch=true&includeObject=Object', kubectl),
    ];
    for (const stream of [...streams, ...more]) {
      await stream.until(({ events }) => events.length === 1);
    }
    const { body } = await operator.patch('groups/a', { spec: { displayName: 'Again' } }).is(200);
    for (const stream of [...streams, ...more]) {
      await stream.until(({ events }) => events.length === 2);
    }
    const [table, metadata, plain] = streams.map(({ events }) => events[1]!.object);
    expect([table.kind, table.columnDefinitions, table.rows[0].cells[1], metadata, plain]).toEqual([
      'Table',
      [],
      'Again',
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: body.metadata },
      body,
    ]);
    expect(more.map(({ events }) => events[1]!.object.rows[0].object)).toEqual([metadata, body]);
    expect(streams[0]!.events[0]!.object.columnDefinitions).toHaveLength(4);
    for (const stream of [...streams, ...more]) stream.close();
  });

  test('a version too old is reported as what it is', async () => {
    const stream = await new Stream(
      operator,
      'groups?watch=true&resourceVersion=99999999',
      kubectl,
    ).until(({ ended }) => ended);
    expect(stream.events).toEqual([
      {
        type: 'ERROR',
        object: expect.objectContaining({ kind: 'Status', code: 410, reason: 'Expired' }),
      },
    ]);
  });
});

test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [330, '5m30s'],
  [599, '9m59s'],
  [600, '10m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [18_600, '5h10m'],
  [28_799, '7h59m'],
  [28_800, '8h'],
  [172_799, '47h'],
  [172_800, '2d'],
  [273_600, '3d4h'],
  [691_199, '7d23h'],
  [691_200, '8d'],
  [34_560_000, '400d'],
  [63_071_999, '729d'],
  [63_072_000, '2y'],
  [63_331_200, '2y3d'],
  [252_288_000, '8y'],
])('%d seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});
