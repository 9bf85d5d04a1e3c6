import { expect, test } from '@jest/globals';
import { readAddress } from '../../ui/base/passkeys/address.js';

test.each([
  ['ada@example.test', 'ada@example.test'],
  [' ada@example.test\n', 'ada@example.test'],
  ['Ada.L+x@Example.test', 'Ada.L+x@Example.test'],
  ['\u200eada@example.test\u200f', 'ada@example.test'],
  ['\ufeffada@exa\u00admple.test', 'ada@example.test'],
  ['\u2066ada@example.test\u2069', 'ada@example.test'],
  ['ada＠example.test', 'ada@example.test'],
  ['ada@example．test', 'ada@example.test'],
  ['ada@example。test', 'ada@example.test'],
  ['ada@example｡test', 'ada@example.test'],
  ['ａｄａ＠ｅｘａｍｐｌｅ．ｔｅｓｔ', 'ada@example.test'],
  ['ada @ example . test', 'ada@example.test'],
  ['ada@example.test.', 'ada@example.test'],
  ['mailto:ada@example.test', 'ada@example.test'],
  ['Ada Lovelace <ada@example.test>', 'ada@example.test'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ada@例え。テスト', 'ada@xn--r8jz45g.xn--zckzah'],
  ['ada@مثال.إختبار', 'ada@xn--mgbh0fb.xn--kgbechtv'],
  ['ada@straße.example', 'ada@xn--strae-oqa.example'],
])('%j is %s', (typed, email) => {
  expect(readAddress(typed)).toEqual({ email });
});

test.each([
  ['ada', 'at'],
  ['ada@', 'at'],
  ['@example.test', 'at'],
  ['ada@a@example.test', 'at'],
  ['ada love@example.test', 'space'],
  ['jörg@example.test', 'local'],
  ['用户@example.test', 'local'],
  ['ada@example', 'domain'],
  ['ada@example,test', 'domain'],
  ['ada@exa/mple.test', 'domain'],
  ['ada@example.test:25', 'domain'],
  ['ada@example.', 'domain'],
  ['ada@bücher', 'domain'],
])('%j is refused by its %s', (typed, fault) => {
  expect(readAddress(typed)).toEqual({ fault: `address.fault.${fault}` });
});
