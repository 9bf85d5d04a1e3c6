import { expect, test } from '@jest/globals';
import { type ContinueToken, ContinueTokens } from '../../../apiserver/handlers/continue-token.js';
import type { AuthorizedResourceRequest } from '../../../apiserver/http/message.js';
import { Keys, newKeys } from '../../../security/keyring.js';

const page: ContinueToken = { r: 7, k: 'objects/clients/c05', q: '["","",""]' };
const of = (user: string, owner?: string, type = 'ClusterUser'): AuthorizedResourceRequest =>
  ({
    caller: { type, user },
    owner,
    requestInfo: { kind: { resource: 'clients', kind: 'Client' } },
  }) as unknown as AuthorizedResourceRequest;
const queryOf = (token: string): ReadonlyMap<string, string> => new Map([['continue', token]]);

test('the same page has one token for each caller and owner, and only they can use it', () => {
  const tokens = new ContinueTokens(new Keys(newKeys()));
  const callers = [of('ada'), of('bo'), of('ada', 'ada'), of('ada', undefined, 'Account')];
  const all = callers.map((caller) => tokens.seal(caller, page));
  expect(callers.map((caller) => tokens.seal(caller, page))).toEqual(all);
  expect(new Set(all).size).toBe(callers.length);
  for (const [i, caller] of callers.entries()) {
    for (const [j, token] of all.entries()) {
      if (i === j) {
        expect(tokens.open(caller, queryOf(token))).toEqual(page);
      } else {
        expect(() => tokens.open(caller, queryOf(token))).toThrow();
      }
    }
  }
});

test('after a rotation of the keys the same page has another token, and keeps one', () => {
  const file = newKeys();
  const keys = new Keys(file);
  const tokens = new ContinueTokens(keys);
  const before = tokens.seal(of('ada'), page);
  keys.replace({ ...file, sealing: [...newKeys().sealing, ...file.sealing] });
  const after = tokens.seal(of('ada'), page);
  expect(after).not.toBe(before);
  expect(tokens.seal(of('ada'), page)).toBe(after);
  for (const token of [before, after]) expect(tokens.open(of('ada'), queryOf(token))).toEqual(page);
});
