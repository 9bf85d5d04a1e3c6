import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { applyJSONPatch, parseJSONPatch } from '../../../apiserver/codec/json-patch.js';
import { signIn } from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

const apply = (document: object, ...operations: object[]): unknown => {
  const root = { document: JSON.parse(JSON.stringify(document)) as unknown };
  return applyJSONPatch(root, parseJSONPatch(JSON.parse(JSON.stringify(operations)), 4_096))
    .document;
};
const at = (path: string): string => `/document${path}`;

describe('operations (RFC 6902)', () => {
  test.each<[string, object, object[], object]>([
    ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: [1] }], { a: 1, b: [1] }],
    ['add over a member', { a: null }, [{ op: 'add', path: '/a', value: 1 }], { a: 1 }],
    ['add the empty key', {}, [{ op: 'add', path: '/', value: 1 }], { '': 1 }],
    ['add first', [1, 2], [{ op: 'add', path: '/0', value: 0 }], [0, 1, 2]],
    ['add at the length', [1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    ['add at -', [1], [{ op: 'add', path: '/-', value: [2] }], [1, [2]]],
    ['add with a digit as key', {}, [{ op: 'add', path: '/0', value: 1 }], { 0: 1 }],
    [
      'add with an inherited name',
      {},
      [{ op: 'add', path: '/toString', value: 1 }],
      { toString: 1 },
    ],
    ['add with escapes', {}, [{ op: 'add', path: '/a~1b~01', value: 1 }], { 'a/b~1': 1 }],
    ['remove a member', { a: null, b: 1 }, [{ op: 'remove', path: '/a' }], { b: 1 }],
    [
      'remove twice',
      [1, 2, 3, 4],
      [
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/2' },
      ],
      [1, 3],
    ],
    [
      'replace a member',
      { a: null },
      [{ op: 'replace', path: '/a', value: { b: 1 } }],
      { a: { b: 1 } },
    ],
    ['replace an item', [1, 2], [{ op: 'replace', path: '/1', value: [3] }], [1, [3]]],
    ['move a member', { a: 1, b: 2 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    ['move within an array', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    ['move to itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    [
      'copy a value',
      { a: [1] },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/-', value: 2 },
      ],
      { a: [1], b: [1, 2] },
    ],
    [
      'test in another order',
      { a: { b: 1, c: [null] } },
      [{ op: 'test', path: '/a', value: { c: [null], b: 1 } }],
      { a: { b: 1, c: [null] } },
    ],
    [
      'members that it does not know',
      { a: 1 },
      [{ op: 'test', path: '/a', value: 1, more: 1 }],
      { a: 1 },
    ],
    ['no operation', { a: 1 }, [], { a: 1 }],
  ])('%s', (_, document, operations, expected) => {
    const prefixed = operations.map((operation: any) => ({
      ...operation,
      path: at(operation.path),
      ...(operation.from !== undefined && { from: at(operation.from) }),
    }));
    expect(apply(document, ...prefixed)).toEqual(expected);
  });

  test('the whole document', () => {
    const patch = (...operations: object[]) => parseJSONPatch(operations, 100);
    expect(applyJSONPatch({ a: 1 }, patch({ op: 'add', path: '', value: { b: 2 } }))).toEqual({
      b: 2,
    });
    expect(applyJSONPatch({ a: { b: 1 } }, patch({ op: 'move', from: '/a', path: '' }))).toEqual({
      b: 1,
    });
    for (const operation of [
      { op: 'remove', path: '' },
      { op: 'replace', path: '', value: [] },
    ]) {
      expect(() => applyJSONPatch({}, patch(operation))).toThrow(/must be an object/);
    }
  });

  const document = { list: [1, 2], text: 'ab', object: {} };
  test.each<[string, object]>([
    ['the path does not exist', { op: 'remove', path: '/none' }],
    ['the path does not exist', { op: 'replace', path: '/none', value: 1 }],
    ['the path does not exist', { op: 'test', path: '/none', value: null }],
    ['the path does not exist', { op: 'add', path: '/none/a', value: 1 }],
    ['the path does not exist', { op: 'add', path: '/text/a', value: 1 }],
    ['the path does not exist', { op: 'copy', from: '/none', path: '/a' }],
    ['the path does not exist', { op: 'move', from: '/none', path: '/none' }],
    ['the path does not exist', { op: 'test', path: '/text/0', value: 'a' }],
    ['the path does not exist', { op: 'remove', path: '/list/-' }],
    ['the path does not exist', { op: 'remove', path: '/list/2' }],
    ['the path does not exist', { op: 'remove', path: '/list/01' }],
    ['the path does not exist', { op: 'remove', path: '/list/length' }],
    ['the path does not exist', { op: 'replace', path: '/list/length', value: 0 }],
    ['the path does not exist', { op: 'add', path: '/object/toString/a', value: 1 }],
    ['the path does not exist', { op: 'copy', from: '/object/valueOf', path: '/a' }],
    ['the index is out of bounds', { op: 'add', path: '/list/3', value: 1 }],
    ['the index is out of bounds', { op: 'add', path: '/list/-1', value: 1 }],
    ['the index is out of bounds', { op: 'add', path: '/list/1e0', value: 1 }],
    ['the index is out of bounds', { op: 'move', from: '/list/0', path: '/list/2' }],
    ['a value cannot be moved into itself', { op: 'move', from: '/object', path: '/object/a' }],
    ['the value differs', { op: 'test', path: '/list', value: [1] }],
    ['the value differs', { op: 'test', path: '/list/0', value: '1' }],
    ['from is required', { op: 'copy', path: '/a' }],
    ['value is required', { op: 'add', path: '/a' }],
    ['value is required', { op: 'test', path: '/list' }],
    ['the operation is unknown', { op: 'merge', path: '/a', value: 1 }],
    ['a path must begin with /', { op: 'remove', path: 'list' }],
    ['a path must begin with /', { op: 'remove', path: '/a~2' }],
    ['a path must begin with /', { op: 'remove', path: '/a~' }],
    ['a key of the path is not allowed', { op: 'add', path: '/object/__proto__', value: {} }],
    ['a key of the path is not allowed', { op: 'test', path: '/constructor/a', value: 1 }],
    ['a key of the path is not allowed', { op: 'move', from: '/prototype', path: '/a' }],
  ])('refuses: %s, %j', (why, operation) => {
    const patch = parseJSONPatch([operation], 100);
    expect(() => applyJSONPatch(structuredClone(document), patch)).toThrow(why);
  });

  test('a path may be as long as a body', () => {
    for (const path of ['/'.repeat(4 << 20), `/${'a'.repeat(4 << 20)}`]) {
      expect(() => applyJSONPatch({}, parseJSONPatch([{ op: 'remove', path }], 100))).toThrow(
        'the path does not exist',
      );
    }
  });

  test('copies are bounded together', () => {
    const doubling = Array.from({ length: 16 }, (_, i) => ({
      op: 'copy',
      from: '',
      path: `/${i}`,
    }));
    expect(() => applyJSONPatch({ a: 'x' }, parseJSONPatch(doubling, 10_000))).toThrow(
      'the copies of the patch are too large',
    );
  });
});

describe('requests', () => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    await operator
      .post('groups', {
        metadata: { name: 'staff', labels: { a: 'b' } },
        spec: { displayName: 'Staff', members: ['a@example.test'] },
      })
      .is(201);
  });
  afterAll(stopAll);

  const patch = (body: unknown, path = 'groups/staff'): Pending<any> =>
    operator.patch(path, body as object, {
      headers: { 'content-type': 'application/json-patch+json' },
    });
  const read = async (path = 'groups/staff'): Promise<any> =>
    (await operator.get(path).is(200)).body;

  test('change an item, and keep the version without an effect or with dryRun', async () => {
    const before = await read();
    const add = { op: 'add', path: '/spec/members/-', value: 'b@example.test' };
    const dry = (await patch([add], 'groups/staff?dryRun=All').is(200)).body;
    expect(dry.spec.members).toEqual(['a@example.test', 'b@example.test']);
    expect(await read()).toEqual(before);
    const test = { op: 'test', path: '/spec/members', value: ['a@example.test'] };
    const { body } = await patch([test, add]).is(200);
    expect(body.spec.members).toEqual(['a@example.test', 'b@example.test']);
    await patch([test, add]).fails(422, 'Invalid');
    expect((await patch([]).is(200)).body).toEqual(body);
  });

  test('what the service sets stays, whichever way it is reached', async () => {
    const path = 'accounts/~';
    const before = await read(path);
    const { body } = await patch(
      [
        { op: 'replace', path: '/metadata/creationTimestamp', value: '2001-01-01T00:00:00Z' },
        { op: 'replace', path: '/status/email/address', value: 'other@example.test' },
        { op: 'add', path: '/spec/nickname', value: 'Countess' },
      ],
      path,
    ).is(200);
    expect(body.status.email).toEqual(before.status.email);
    expect(body.metadata.creationTimestamp).toBe(before.metadata.creationTimestamp);
    expect((await read(path)).status.email).toEqual(before.status.email);
    await patch([{ op: 'replace', path: '/metadata/uid', value: 'x' }]).fails(422, 'Invalid');
    await patch([{ op: 'remove', path: '/metadata/name' }]).fails(400, 'BadRequest');
    await patch([{ op: 'replace', path: '/kind', value: 'Client' }]).fails(400, 'BadRequest');
    await patch([{ op: 'remove', path: '/spec' }]).fails(422, 'Invalid', 'spec');
  });

  test('a resourceVersion is a condition', async () => {
    const { metadata } = await read();
    const version = (value: string) => ({ op: 'add', path: '/metadata/resourceVersion', value });
    await patch([version(metadata.resourceVersion)]).is(200);
    await patch([version('1')]).fails(409, 'Conflict');
    await patch([{ op: 'test', path: '/metadata/resourceVersion', value: '1' }]).fails(
      422,
      'Invalid',
    );
  });

  test('fields are checked as in any change', async () => {
    const unknown = [{ op: 'add', path: '/spec/bogus', value: 1 }];
    await patch(unknown).fails(422, 'Invalid', 'spec.bogus');
    await patch([{ op: 'replace', path: '/spec/displayName', value: '' }]).fails(
      422,
      'Invalid',
      'spec.displayName',
    );
    await patch([{ op: 'add', path: '/spec/displayName', value: 'a\u202eb' }]).fails(
      422,
      'Invalid',
      'spec.displayName',
    );
  });

  test('malformed patches are 400, and too many operations 413', async () => {
    const remove = { op: 'remove', path: '/none' };
    for (const body of [{}, null, 'x', [1], [null], [[]], [{ op: 'add' }], [{ op: 1, path: '' }]]) {
      await patch(JSON.stringify(body)).fails(400, 'BadRequest');
    }
    await patch([{ ...remove, from: 1 }]).fails(400, 'BadRequest');
    const { message } = await patch(Array.from({ length: 1_001 }, () => remove)).fails(
      413,
      'RequestEntityTooLarge',
    );
    expect(message).toContain('The allowed maximum operations in a JSON patch is 1000, got 1001');
  });
});
