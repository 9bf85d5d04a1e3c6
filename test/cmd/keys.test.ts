import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { main } from '../../cmd/vestibule/main.js';
import { readKeys, rotate } from '../../cmd/vestibule/serve/keys/keys-file.js';
import { Keys, KeysFile } from '../../security/keyring.js';
import { stopAll, temporary } from '../support/service.js';

const file = join(temporary(), 'keys.json');
const read = (): KeysFile => KeysFile.parse(JSON.parse(readFileSync(file, 'utf8')));
const step = (word: string): Promise<void> => main(['keys', word, file]);

afterAll(stopAll);

test('a rotation by the command goes step by step', async () => {
  await step('new');
  const first = read();
  const before = new Keys(first);
  const [sealed, signature] = [before.seal('key', 'inside'), before.signCookie('a=b')];
  for (const word of ['use', 'drop', 'drop-sealing', 'new']) {
    await expect(step(word)).rejects.toThrow();
  }
  expect(read()).toEqual(first);
  await step('add');
  const added = read();
  for (const sort of ['cookies', 'hmac', 'sealing', 'signing'] as const) {
    expect(added[sort].slice(0, first[sort].length)).toEqual(first[sort]);
    expect(added[sort]).toHaveLength(2 * first[sort].length);
  }
  expect(added.signing.map(({ alg }) => alg)).toEqual(['ES256', 'RS256', 'ES256', 'RS256']);
  for (const word of ['drop', 'drop-sealing']) {
    await expect(step(word)).rejects.toThrow(/the newest keys are not active yet/);
  }
  expect(read()).toEqual(added);
  await step('use');
  const used = new Keys(read());
  expect([
    used.cookieKeyIndex('a=b', signature),
    used.open('key', sealed).toString(),
    used.signing[0]?.kid,
  ]).toEqual([1, 'inside', added.signing[2]?.kid]);
  await step('drop');
  const dropped = new Keys(read());
  expect([
    dropped.cookieKeyIndex('a=b', signature),
    dropped.open('key', sealed).toString(),
    dropped.signing.length,
  ]).toEqual([-1, 'inside', 2]);
  await step('drop-sealing');
  expect(() => new Keys(read()).open('key', sealed)).toThrow(/no longer in the keys file/);
  await expect(step('drop')).rejects.toThrow(/cannot drop the only key of each type/);
  expect([
    read().pairwise,
    read().dpopNonce,
    statSync(file).mode & 0o777,
    existsSync(`${file}.new`),
  ]).toEqual([first.pairwise, first.dpopNonce, 0o600, false]);
});

test('a keys file that everybody may read is neither read nor rotated', async () => {
  const open = join(temporary(), 'keys.json');
  await main(['keys', 'new', open]);
  for (const mode of [0o640, 0o440]) {
    chmodSync(open, mode);
    expect(readKeys(open).signing).toHaveLength(2);
  }
  chmodSync(open, 0o644);
  const wrong = `--keys-file: ${open} can be read by anyone on this machine; restrict it with: chmod o= ${open}`;
  expect(() => readKeys(open)).toThrow(wrong);
  await expect(main(['keys', 'add', open])).rejects.toThrow(wrong);
});

test('using the newest keys twice is using them once', async () => {
  const twice = join(temporary(), 'keys.json');
  const held = (): KeysFile => KeysFile.parse(JSON.parse(readFileSync(twice, 'utf8')));
  for (const word of ['new', 'add', 'use']) await main(['keys', word, twice]);
  const used = held();
  expect(rotate(twice, 'use')).toBe('the newest keys are already active: nothing changed');
  expect(held()).toEqual(used);
  await main(['keys', 'add', twice]);
  const added = held();
  await main(['keys', 'use', twice]);
  expect([held().cookies[0], held().sealing[0], held().hmac[0], held().signing[0]]).toEqual([
    added.cookies[2],
    added.sealing[2],
    added.hmac[2],
    added.signing[4],
  ]);
});

test('an older file is rotated as the caller asks', async () => {
  const old = join(temporary(), 'keys.json');
  for (const word of ['new', 'add']) await main(['keys', word, old]);
  const { unused, ...before } = KeysFile.parse(JSON.parse(readFileSync(old, 'utf8')));
  expect(unused).toBe(true);
  writeFileSync(old, JSON.stringify(before));
  await main(['keys', 'use', old]);
  expect(KeysFile.parse(JSON.parse(readFileSync(old, 'utf8'))).cookies).toEqual(
    [...before.cookies].reverse(),
  );
});

test('what is no keys file is left alone', async () => {
  const other = join(temporary(), 'other.json');
  writeFileSync(other, '{}', { mode: 0o600 });
  await expect(main(['keys', 'add', other])).rejects.toThrow(/is not a keys file/);
  await expect(main(['keys', 'add', `${other}.missing`])).rejects.toThrow(/there is no file/);
  await expect(main(['keys', 'turn', other])).rejects.toThrow(/usage: vestibule keys/);
  expect(readFileSync(other, 'utf8')).toBe('{}');
});
