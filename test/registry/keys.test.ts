import { describe, expect, test } from '@jest/globals';
import { Keys, KeysFile, newKeys } from '../../security/keyring.js';

const [first, second] = [newKeys(), newKeys()];
const [old, fresh] = [new Keys(first), new Keys(second)];
/** The keys after a rotation: the new ones before the old ones. */
const both = new Keys({
  ...second,
  cookies: [...second.cookies, ...first.cookies],
  sealing: [...second.sealing, ...first.sealing],
  hmac: [...second.hmac, ...first.hmac],
});

describe('sealing', () => {
  test('opens in the same place only', () => {
    const sealed = old.seal('oidc/Session/a', 'what is inside');
    expect(old.open('oidc/Session/a', sealed).toString()).toBe('what is inside');
    for (const elsewhere of [
      'oidc/Session/b',
      'oidc/Session/a ',
      'oidc/Session/',
      '',
      'oidc/AccessToken/a',
    ]) {
      expect(() => old.open(elsewhere, sealed)).toThrow();
    }
  });

  test('notices every flipped bit, and every length', () => {
    const sealed = old.seal('key', 'what is inside');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => old.open('key', altered)).toThrow();
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => old.open('key', sealed.subarray(0, length))).toThrow();
    }
    expect(() => old.open('key', Buffer.concat([sealed, Buffer.from('x')]))).toThrow();
  });

  test('never twice the same, and nothing of it in the clear', () => {
    const seals = Array.from({ length: 200 }, () => old.seal('key', 'aaaaaaaaaaaaaaaa'));
    expect(new Set(seals.map((seal) => seal.toString('hex'))).size).toBe(200);
    expect(new Set(seals.map((seal) => seal.subarray(4, 16).toString('hex'))).size).toBe(200);
    for (const seal of seals) expect(seal.toString('latin1')).not.toContain('aaaa');
  });

  test('takes any bytes, none among them', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 0]), Buffer.alloc(100_000, 7)]) {
      expect(old.open('key', old.seal('key', bytes)).equals(bytes)).toBe(true);
    }
  });
});

describe('a rotation', () => {
  test('seals with the new key, opens with both, and by the old one alone no more', () => {
    const [before, after] = [old.seal('key', 'before'), both.seal('key', 'after')];
    expect([both.open('key', before).toString(), both.open('key', after).toString()]).toEqual([
      'before',
      'after',
    ]);
    expect(fresh.open('key', after).toString()).toBe('after');
    expect(() => old.open('key', after)).toThrow();
    expect(() => fresh.open('key', before)).toThrow(/no longer in the keys file/);
  });

  test('makes codes with the new key and knows both', () => {
    const [before, after] = [old.mac('emailcode', 'data'), both.mac('emailcode', 'data')];
    expect(before.equals(after)).toBe(false);
    expect([
      both.macMatches('emailcode', 'data', before),
      both.macMatches('emailcode', 'data', after),
      fresh.macMatches('emailcode', 'data', before),
    ]).toEqual([true, true, false]);
  });

  test('signs cookies with the new key and says which one signed', () => {
    expect(both.signCookie('a=b')).toBe(fresh.signCookie('a=b'));
    expect([
      both.cookieKeyIndex('a=b', fresh.signCookie('a=b')),
      both.cookieKeyIndex('a=b', old.signCookie('a=b')),
      fresh.cookieKeyIndex('a=b', old.signCookie('a=b')),
    ]).toEqual([0, 1, -1]);
  });
});

describe('purposes', () => {
  test('are kept apart, and data cannot slip from one into the other', () => {
    expect(old.mac('a', 'b').equals(old.mac('b', 'a'))).toBe(false);
    expect(old.macMatches('emailcode', 'data', old.mac('user code', 'data'))).toBe(false);
    expect(old.macMatches('ab', 'c', old.mac('a', 'bc'))).toBe(false);
    expect(old.signCookie('data')).not.toBe(old.mac('emailcode', 'data').toString('base64url'));
  });

  test('a MAC or signature of another length is not one', () => {
    const mac = old.mac('a', 'b');
    for (const odd of [
      Buffer.alloc(0),
      mac.subarray(0, 31),
      Buffer.concat([mac, Buffer.alloc(1)]),
    ]) {
      expect(old.macMatches('a', 'b', odd)).toBe(false);
    }
    for (const odd of [
      '',
      old.signCookie('a=b').slice(1),
      `${old.signCookie('a=b')}=`,
      `${old.signCookie('a=b')} `,
    ]) {
      expect(old.cookieKeyIndex('a=b', odd)).toBe(-1);
    }
    expect(old.cookieKeyIndex('a=c', old.signCookie('a=b'))).toBe(-1);
  });
});

test('a keys file is held to its form', () => {
  expect(KeysFile.safeParse(first).success).toBe(true);
  for (const wrong of [
    { ...first, cookies: [] },
    { ...first, sealing: ['short'] },
    { ...first, hmac: undefined },
    { ...first, pairwise: 'x' },
    { ...first, signing: first.signing.slice(1) },
    {},
  ]) {
    expect(KeysFile.safeParse(wrong).success).toBe(false);
  }
  expect(() => new Keys({ ...first, signing: [{ kty: 'EC' }, ...first.signing] })).toThrow();
});

test('new keys are two signing keys with their thumbprints, and secrets that differ', () => {
  expect(first.signing.map(({ alg, kty }) => [alg, kty])).toEqual([
    ['ES256', 'EC'],
    ['RS256', 'RSA'],
  ]);
  expect(new Set(first.signing.map(({ kid }) => kid)).size).toBe(2);
  const secrets = [
    ...first.cookies,
    ...first.sealing,
    ...first.hmac,
    first.pairwise,
    first.dpopNonce,
    ...second.cookies,
    ...second.sealing,
  ];
  expect(new Set(secrets).size).toBe(secrets.length);
});

describe('another keys file', () => {
  test('is taken over at once, and what was signed and sealed before counts on', () => {
    const keys = new Keys(first);
    const [sealed, signature, mac] = [
      keys.seal('key', 'inside'),
      keys.signCookie('a=b'),
      keys.mac('emailcode', 'data'),
    ];
    expect(keys.cookieKeyIndex('a=b', signature)).toBe(0);
    const rotated = {
      ...first,
      cookies: [...second.cookies, ...first.cookies],
      sealing: [...second.sealing, ...first.sealing],
      hmac: [...second.hmac, ...first.hmac],
      signing: [...second.signing, ...first.signing],
    };
    expect([
      keys.replace({ ...first }),
      keys.version,
      keys.replace(rotated),
      keys.version,
      keys.replace(rotated),
      keys.version,
    ]).toEqual([false, 0, true, 1, false, 1]);
    expect([
      keys.open('key', sealed).toString(),
      keys.cookieKeyIndex('a=b', signature),
      keys.macMatches('emailcode', 'data', mac),
    ]).toEqual(['inside', 1, true]);
    expect([keys.signCookie('a=b'), keys.signing[0]?.kid, keys.signing.length]).toEqual([
      new Keys(second).signCookie('a=b'),
      second.signing[0]?.kid,
      4,
    ]);
  });

  test.each([
    [
      'whose pairwise key is another',
      { ...first, pairwise: second.pairwise },
      /`pairwise` must not change/,
    ],
    [
      'without a key for RS256',
      { ...first, signing: first.signing.slice(0, 1) },
      /no signing key for RS256/,
    ],
    [
      'with half a key',
      { ...first, signing: [...first.signing, { kty: 'EC', alg: 'ES256' }] },
      /./,
    ],
  ])('%s changes nothing', (_, file, message) => {
    const keys = new Keys(first);
    expect(() => keys.replace(file)).toThrow(message);
    expect([
      keys.version,
      keys.signing.map(({ kid }) => kid),
      keys.pairwise.equals(old.pairwise),
    ]).toEqual([0, first.signing.map(({ kid }) => kid), true]);
  });
});
