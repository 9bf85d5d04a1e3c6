import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Pending } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

let service: TestService;
let authorization: string;
let stranger: string;
let replicas: TestService[];
afterAll(stopAll);

const mediaTypes = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

function send<T = any>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string | undefined> = {},
  at = service,
): Pending<T> {
  return at.tab().send(method, `/apis/id.vestibule.org/v1beta1/${path}`, {
    plain: true,
    headers: {
      authorization,
      'content-type': 'application/json',
      'user-agent': 'tool/1.2',
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const patch = (
  type: keyof typeof mediaTypes,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  at = service,
): Pending<any> => send('PATCH', path, body, { 'content-type': mediaTypes[type], ...headers }, at);

const configuration = (spec?: object, metadata?: object, kind = 'Group'): object => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  kind,
  ...(metadata && { metadata }),
  ...(spec && { spec }),
});
const apply = (
  name: string,
  by: string,
  spec?: object,
  { metadata, query = '', at }: { metadata?: object; query?: string; at?: TestService } = {},
): Pending<any> =>
  patch(
    'apply',
    `groups/${name}?fieldManager=${by}${query}`,
    configuration(spec, metadata),
    {},
    at,
  );

let count = 0;
const newName = (): string => `applied-${(count += 1)}`;
const create = async (name: string, spec: object): Promise<any> =>
  (await send('POST', 'groups', { metadata: { name }, spec }).is(201)).body;

/** Who owns what, by `manager operation`. */
const ownersOf = (object: any): Record<string, unknown> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry: any) => [
      `${entry.manager} ${entry.operation}`,
      entry.fieldsV1,
    ]),
  );
const member = (name: string): string => `v:"${name}@example.test"`;
const members = (...names: string[]): string[] => names.map((name) => `${name}@example.test`);

describe.each(stores)('server-side apply on %s', (store) => {
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    replicas = [service, await service.replica()];
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    authorization = `Bearer ${await tokenOf(service, tab)}`;
    const other = await signIn(service, 'stranger@example.test');
    stranger = `Bearer ${await tokenOf(service, other.tab)}`;
  });

  describe('an apply', () => {
    test('creates the object with its owner, in JSON or YAML', async () => {
      const name = newName();
      const created = (
        await patch(
          'apply',
          `groups/${name}?fieldManager=flux`,
          `apiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata:\n  name: ${name}\n  labels: {team: red}\nspec:\n  displayName: Red # a note\n  members:\n  - a@example.test\n`,
        ).is(201)
      ).body;
      expect(created.spec).toEqual({ displayName: 'Red', members: ['a@example.test'] });
      expect(created.metadata.managedFields).toEqual([
        {
          manager: 'flux',
          operation: 'Apply',
          apiVersion: 'id.vestibule.org/v1beta1',
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { 'f:team': {} } },
            'f:spec': { 'f:displayName': {}, 'f:members': { [member('a')]: {} } },
          },
        },
      ]);
      expect((await send('GET', `groups/${name}`).is(200)).body).toEqual(created);
    });

    test('without an effect writes nothing', async () => {
      const name = newName();
      const first = (await apply(name, 'flux', { displayName: 'Same' }).is(201)).body;
      const second = (await apply(name, 'flux', { displayName: 'Same' }).is(200)).body;
      expect(second).toEqual(first);
    });

    test('of fields with their values shares them, and removes only what no one else owns', async () => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'A', members: members('a', 'b') }).is(201);
      await apply(name, 'argo', { members: members('b') }).is(200);
      const { body } = await apply(name, 'flux', { displayName: 'A' }).is(200);
      expect(body.spec.members).toEqual(members('b'));
      expect(ownersOf(body)).toEqual({
        'argo Apply': { 'f:spec': { 'f:members': { [member('b')]: {} } } },
        'flux Apply': { 'f:spec': { 'f:displayName': {} } },
      });
    });

    test('of a field that another owns is 409 with a cause, and force takes it over', async () => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'A' }).is(201);
      const refused = await apply(name, 'argo', { displayName: 'B' }).is(409);
      expect(refused.body).toMatchObject({
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "flux": .spec.displayName',
        details: {
          name,
          kind: 'groups',
          causes: [
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "flux"',
              field: '.spec.displayName',
            },
          ],
        },
      });
      const { body } = await apply(name, 'argo', { displayName: 'B' }, { query: '&force=true' }).is(
        200,
      );
      expect(body.spec.displayName).toBe('B');
      expect(ownersOf(body)).toEqual({ 'argo Apply': { 'f:spec': { 'f:displayName': {} } } });
    });

    test('names every conflict by manager, with what an update used', async () => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'A' }, { metadata: { labels: { a: '1' } } }).is(201);
      await patch('merge', `groups/${name}`, { metadata: { labels: { a: '2' } } }).is(200);
      const refused = await apply(
        name,
        'argo',
        { displayName: 'B' },
        { metadata: { labels: { a: '3' } } },
      ).is(409);
      expect(refused.body.message).toMatch(
        /^Apply failed with 2 conflicts: conflicts with "flux":\n- \.spec\.displayName\nconflicts with "tool" using id\.vestibule\.org\/v1beta1 at \S+Z:\n- \.metadata\.labels\.a$/,
      );
    });

    test('of an object that no one applied conflicts with before-first-apply', async () => {
      const name = newName();
      await create(name, { displayName: 'A', members: members('a') });
      await apply(name, 'flux', { displayName: 'B' }).is(409);
      const { body } = await apply(name, 'flux', { displayName: 'A', members: members('b') }).is(
        200,
      );
      expect(body.spec.members).toEqual(members('a', 'b'));
      expect(Object.keys(ownersOf(body))).toEqual(['flux Apply', 'before-first-apply Update']);
    });

    test('by kubectl continues a client-side apply', async () => {
      const name = newName();
      const before = configuration(
        { displayName: 'A', members: members('a', 'b') },
        { name, labels: { a: '1' } },
      );
      await send('POST', 'groups', {
        ...before,
        metadata: {
          name,
          labels: { a: '1' },
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(before),
          },
        },
      }).is(201);
      const { body } = await apply(name, 'kubectl', { displayName: 'B', members: members('b') }).is(
        200,
      );
      expect(body.spec).toEqual({ displayName: 'B', members: members('b') });
      expect(body.metadata.labels).toBeUndefined();
      expect(Object.keys(ownersOf(body))).toEqual(['kubectl Apply', 'before-first-apply Update']);
    });

    test('with dryRun answers what it would store, and stores nothing', async () => {
      const name = newName();
      const dry = await apply(name, 'flux', { displayName: 'A' }, { query: '&dryRun=All' }).is(201);
      expect(dry.body.spec.displayName).toBe('A');
      await send('GET', `groups/${name}`).is(404);
      await apply(name, 'flux', { displayName: 'A' }).is(201);
      await apply(name, 'flux', { displayName: 'B' }, { query: '&dryRun=All' }).is(200);
      expect((await send('GET', `groups/${name}`).is(200)).body.spec.displayName).toBe('A');
    });

    test('leaves out nulls and empty metadata, as templates write them', async () => {
      const name = newName();
      const { body } = await apply(
        name,
        'helm',
        { displayName: 'A', members: null },
        { metadata: { name, labels: null, annotations: {}, creationTimestamp: null } },
      ).is(201);
      expect(body.spec).toEqual({ displayName: 'A', members: [] });
      expect(ownersOf(body)).toEqual({
        'helm Apply': { 'f:metadata': { 'f:annotations': {} }, 'f:spec': { 'f:displayName': {} } },
      });
    });

    test('compares text as it is stored', async () => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'Caf\u00e9' }).is(201);
      const { body } = await apply(name, 'argo', { displayName: 'Cafe\u0301' }).is(200);
      expect(Object.keys(ownersOf(body)).sort()).toEqual(['argo Apply', 'flux Apply']);
    });

    test('with a resourceVersion or uid applies only to that object', async () => {
      const name = newName();
      const spec = { displayName: 'A' };
      await apply(name, 'flux', spec, { metadata: { resourceVersion: '1' } }).is(404);
      const { body } = await apply(name, 'flux', spec).is(201);
      const { resourceVersion, uid } = body.metadata;
      await apply(name, 'flux', spec, { metadata: { resourceVersion: '1' } }).is(409);
      await apply(name, 'flux', spec, { metadata: { uid: 'other' } }).is(422);
      await apply(name, 'flux', spec, { metadata: { resourceVersion, uid } }).is(200);
    });
  });

  describe('owners after other writes', () => {
    test('an object that no one applied has none', async () => {
      const name = newName();
      const { metadata } = await create(name, { displayName: 'A' });
      expect(metadata.managedFields).toBeUndefined();
      const { body } = await patch('merge', `groups/${name}`, { spec: { displayName: 'B' } }).is(
        200,
      );
      expect(body.metadata.managedFields).toBeUndefined();
    });

    test.each<[string, (name: string) => Pending<any>, string]>([
      [
        'a merge patch',
        (name) => patch('merge', `groups/${name}`, { spec: { displayName: 'B' } }),
        'tool',
      ],
      [
        'a JSON patch',
        (name) =>
          patch('json', `groups/${name}?fieldManager=mine`, [
            { op: 'replace', path: '/spec/displayName', value: 'B' },
          ]),
        'mine',
      ],
    ])('%s owns what it changed', async (_, write, manager) => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'A', members: members('a') }).is(201);
      const { body } = await write(name).is(200);
      expect(ownersOf(body)).toEqual({
        'flux Apply': { 'f:spec': { 'f:members': { [member('a')]: {} } } },
        [`${manager} Update`]: { 'f:spec': { 'f:displayName': {} } },
      });
    });

    test('a PUT without managedFields keeps them, and what it removes has no owner', async () => {
      const name = newName();
      const { body: created } = await apply(name, 'flux', {
        displayName: 'A',
        members: members('a', 'b'),
      }).is(201);
      const { managedFields: _, ...metadata } = created.metadata;
      const { body } = await send('PUT', `groups/${name}`, {
        ...created,
        metadata,
        spec: { displayName: 'A', members: members('b') },
      }).is(200);
      expect(ownersOf(body)).toEqual({
        'flux Apply': { 'f:spec': { 'f:displayName': {}, 'f:members': { [member('b')]: {} } } },
      });
    });

    test('[{}] removes all, and entries replace them if they are valid', async () => {
      const name = newName();
      const { body: created } = await apply(name, 'flux', { displayName: 'A' }).is(201);
      const [entry] = created.metadata.managedFields;
      const setTo = (managedFields: unknown): Pending<any> =>
        patch('merge', `groups/${name}`, { metadata: { managedFields } });
      const renamed = await patch('json', `groups/${name}`, [
        { op: 'test', path: '/metadata/managedFields/0/manager', value: 'flux' },
        { op: 'replace', path: '/metadata/managedFields', value: [{ ...entry, manager: 'argo' }] },
      ]).is(200);
      expect(Object.keys(ownersOf(renamed.body))).toEqual(['argo Apply']);
      expect(ownersOf((await setTo([]).is(200)).body)).toEqual(ownersOf(renamed.body));
      const wrong = await setTo([{ ...entry, operation: 'Own', fieldsV1: { 'x:a': {} } }]).is(422);
      expect(wrong.body.details.causes.map(({ field }: any) => field)).toEqual([
        'metadata.managedFields[0].operation',
        'metadata.managedFields[0].fieldsV1',
      ]);
      expect((await setTo([{}]).is(200)).body.metadata.managedFields).toBeUndefined();
    });

    test('the oldest of more than ten updaters are joined', async () => {
      const name = newName();
      await apply(name, 'flux', { displayName: 'A' }).is(201);
      for (let i = 0; i < 14; i += 1) {
        await patch('merge', `groups/${name}?fieldManager=m${i}`, {
          metadata: { labels: { [`l${i}`]: 'x' } },
        }).is(200);
      }
      const { body } = await send('GET', `groups/${name}`).is(200);
      const updaters = Object.keys(ownersOf(body)).filter((key) => key.endsWith('Update'));
      expect(updaters).toHaveLength(10);
      expect(updaters).toContain('ancient-changes Update');
      expect(updaters).toContain('m13 Update');
    });
  });

  test('metadata alone does not say what is in a set', async () => {
    const name = newName();
    await apply(name, 'flux', { displayName: 'A', members: members('secret') }).is(201);
    for (const as of ['PartialObjectMetadata', 'Table']) {
      const { bytes } = await send('GET', `groups/${name}`, undefined, {
        accept: `application/json;as=${as};g=meta.k8s.io;v=v1`,
      }).is(200);
      expect(bytes.toString()).toContain(name);
      expect(bytes.toString()).not.toContain('secret');
    }
  });

  describe('refusals', () => {
    test.each<[string, number, string, string, unknown, string]>([
      ['no manager', 422, 'groups/x', 'apply', configuration({}), 'fieldManager: Required value'],
      [
        'force of a merge patch',
        422,
        'clients/app?force=true',
        'merge',
        {},
        'force: Forbidden: may not be specified for non-apply patch',
      ],
      [
        'no kind',
        400,
        'groups/x?fieldManager=a',
        'apply',
        { apiVersion: 'id.vestibule.org/v1beta1' },
        'kind must be set',
      ],
      [
        'another kind',
        400,
        'groups/x?fieldManager=a',
        'apply',
        configuration({}, {}, 'Client'),
        'does not match the expected kind',
      ],
      [
        'another name',
        400,
        'groups/x?fieldManager=a',
        'apply',
        configuration({}, { name: 'y' }),
        'does not match the name on the URL',
      ],
      [
        'managedFields',
        400,
        'groups/x?fieldManager=a',
        'apply',
        configuration({}, { managedFields: [{ manager: 'a' }] }),
        'metadata.managedFields must be empty',
      ],
      [
        'an unknown field',
        400,
        'groups/x?fieldManager=a',
        'apply',
        configuration({ colour: 'red' }),
        'field not declared in schema: .spec.colour',
      ],
      [
        'a spec of a wrong type',
        422,
        'groups/x?fieldManager=a',
        'apply',
        { ...configuration(), spec: 'x' },
        'spec: Invalid value: must be an object',
      ],
      [
        'a member twice',
        422,
        'groups/x?fieldManager=a',
        'apply',
        configuration({ displayName: 'A', members: members('a', 'a') }),
        'spec.members[1]: Duplicate value: "a@example.test"',
      ],
      [
        'what the kind requires',
        422,
        'groups/x?fieldManager=a',
        'apply',
        configuration({}),
        'spec.displayName: Required value',
      ],
      [
        'an alias',
        400,
        'groups/x?fieldManager=a',
        'apply',
        'a: &b [1]\nc: *b\n',
        'anchors in YAML',
      ],
      [
        'a key twice',
        400,
        'groups/x?fieldManager=a',
        'apply',
        'a: 1\na: 2\n',
        'error converting YAML to JSON: Map keys must be unique',
      ],
      [
        'explicit keys',
        400,
        'groups/x?fieldManager=a',
        'apply',
        '? '.repeat(99_999),
        'explicit keys',
      ],
      ['a list', 400, 'groups/x?fieldManager=a', 'apply', '- a\n', 'must be a JSON object'],
    ])('%s', async (_, status, path, type, body, message) => {
      const answer = await patch(type as keyof typeof mediaTypes, path, body).is(status);
      expect(answer.body.message).toContain(message);
    });

    test('who may not create learns nothing of absent objects', async () => {
      const name = newName();
      const absent = await patch(
        'apply',
        `groups/${name}?fieldManager=a`,
        configuration({ displayName: 'A' }),
        { authorization: stranger },
      );
      await create(name, { displayName: 'A' });
      const present = await patch(
        'apply',
        `groups/${name}?fieldManager=a`,
        configuration({ displayName: 'A' }),
        { authorization: stranger },
      );
      expect(absent.code).toBe(404);
      expect([present.code, present.body]).toEqual([absent.code, absent.body]);
    });

    test('an object that the service names is not created', async () => {
      await patch(
        'apply',
        'passkeys/absent?fieldManager=a',
        configuration({ displayName: 'A' }, undefined, 'Passkey'),
      ).is(404);
    });

    test('owners may need 256 KiB', async () => {
      const name = newName();
      const many = Array.from({ length: 700 }, (_, i) => `${'x'.repeat(60)}${i}@example.test`);
      await apply(name, 'a', { displayName: 'A', members: many }).is(201);
      for (const by of ['b', 'c', 'd']) await apply(name, by, { members: many }).is(200);
      const { body } = await apply(name, 'e', { members: many }).is(422);
      expect(body.details.causes[0]).toMatchObject({
        reason: 'FieldValueTooLong',
        field: 'metadata.managedFields',
      });
    });
  });

  describe('at the same time, on two replicas', () => {
    test('managers of one set lose nothing', async () => {
      const name = newName();
      await apply(name, 'm', { displayName: 'A' }).is(201);
      const managers = Array.from({ length: 12 }, (_, i) => `m${i}`);
      await Promise.all(
        managers.map((by, i) =>
          apply(name, by, { members: members(by) }, { at: replicas[i % 2]! }).is(200),
        ),
      );
      const { body } = await send('GET', `groups/${name}`).is(200);
      expect([...body.spec.members].sort()).toEqual(members(...managers).sort());
      expect(Object.keys(ownersOf(body)).sort()).toEqual(
        ['m', ...managers].map((by) => `${by} Apply`).sort(),
      );
    });

    test('one of several creates the object, and the others apply to it', async () => {
      const name = newName();
      const managers = Array.from({ length: 8 }, (_, i) => `m${i}`);
      const answers = await Promise.all(
        managers.map((by, i) =>
          apply(name, by, { displayName: 'A', members: members(by) }, { at: replicas[i % 2]! }),
        ),
      );
      expect(answers.map(({ code }) => code).sort()).toEqual([...Array(7).fill(200), 201]);
      const { body } = await send('GET', `groups/${name}`).is(200);
      expect(body.spec.members).toHaveLength(8);
    });

    test('an apply and a deletion leave the object whole or absent', async () => {
      for (let i = 0; i < 8; i += 1) {
        const name = newName();
        await apply(name, 'a', { displayName: 'A', members: members('a') }).is(201);
        const [applied] = await Promise.all([
          apply(name, 'a', { displayName: 'A', members: members('b') }),
          send('DELETE', `groups/${name}`).is(200),
        ]);
        expect([200, 201]).toContain(applied.code);
      }
    });
  });
});
