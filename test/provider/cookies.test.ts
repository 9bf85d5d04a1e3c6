import { expect, jest, test } from '@jest/globals';
import { cookieNames, isSigned } from '../../provider/context/cookies.js';
import { Keys } from '../../security/keyring.js';
import { testKeys } from '../support/keys.js';

const names = cookieNames('https://id.example.test');

test('a header full of signatures is read a few times, and a few of them are compared', () => {
  const keys = new Keys(testKeys());
  const compared = jest.spyOn(keys, 'cookieKeyIndex');
  const split = jest.spyOn(String.prototype, 'split');
  const signatures = Array.from({ length: 400 }, (_, i) => `${names.session}.sig=${i}`);
  const header = [`${names.session}=a`, ...signatures].join('; ');
  expect(isSigned(keys, names, header, names.session, 'a')).toBe(false);
  const readCount = split.mock.contexts.filter((text) => String(text) === header).length;
  split.mockRestore();
  expect(compared.mock.calls.length).toBeLessThanOrEqual(8);
  expect(readCount).toBeLessThanOrEqual(2);
});

test('a new signature counts beside an old one', () => {
  const keys = new Keys(testKeys());
  const fresh = keys.signCookie(`${names.session}=a`);
  const header = `${names.session}=a; ${names.session}.sig=old; ${names.session}.sig=${fresh}`;
  expect(isSigned(keys, names, header, names.session, 'a')).toBe(true);
});
