import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import type {
  Assertion,
  NewCredential,
} from '../../../kinds/people/passkey/webauthn/credential.js';
import {
  type KnownCredential,
  verifyAssertion,
} from '../../../kinds/people/passkey/webauthn/verify-assertion.js';
import {
  type Registration,
  verifyRegistration,
} from '../../../kinds/people/passkey/webauthn/verify-registration.js';
import fc from '../../support/fast-check.js';
import {
  type Algorithm,
  type Asking,
  Authenticator,
  algorithms,
  type Item,
  type Lies,
} from '../../support/people/authenticator.js';

jest.setTimeout(120_000);

const asking = (): Asking => ({
  challenge: randomBytes(32).toString('base64url'),
  origin: 'https://id.example.test',
  rpID: 'id.example.test',
});
const handle = randomBytes(64).toString('base64url');

/** What the library alone says. */
async function libraryTakesAssertion(
  answer: unknown,
  { challenge, origin, rpID }: Asking,
  known: KnownCredential,
  id: string,
): Promise<boolean> {
  try {
    return (
      await verifyAuthenticationResponse({
        response: answer as never,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpID,
        credential: {
          id,
          publicKey: new Uint8Array(Buffer.from(known.publicKey, 'base64url')),
          counter: known.counter,
        },
      })
    ).verified;
  } catch {
    return false;
  }
}
async function libraryTakesRegistration(
  answer: unknown,
  { challenge, origin, rpID }: Asking,
): Promise<boolean> {
  try {
    return (
      await verifyRegistrationResponse({
        response: answer as never,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpID,
        supportedAlgorithmIDs: [-8, -7, -257],
      })
    ).verified;
  } catch {
    return false;
  }
}

/** One credential of each algorithm, registered by ours; counting, so that counters can lie. */
const held = new Map<Algorithm, { authenticator: Authenticator; known: KnownCredential }>();
async function registered(authenticator: Authenticator): Promise<Registration> {
  const to = asking();
  const verdict = await verifyRegistration(
    authenticator.create(to, {}, handle) as NewCredential,
    to,
  );
  if (!verdict.verified) throw new Error(verdict.why);
  return verdict.registration;
}
beforeAll(async () => {
  for (const algorithm of algorithms) {
    const authenticator = new Authenticator({ algorithm, counter: 5 });
    const { publicKey, counter, deviceType } = await registered(authenticator);
    held.set(algorithm, {
      authenticator,
      known: { publicKey, counter, deviceType, userHandle: handle },
    });
    authenticator.counter = 6;
  }
});

/**
 * A lie, and whether the library sees through it too; where it does not, it is ours alone to
 * refuse.
 */
interface Lie {
  readonly lies: Lies;
  readonly library: boolean;
}
const text = fc.string({ minLength: 1, maxLength: 30 });
const bit = fc.nat(7);
const flip =
  (at: number, which: number) =>
  (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at % copy.length]! ^= 1 << which;
    return copy;
  };
/**
 * Where the numbers of a signature are, in DER or bare: the library reads lengths, tags and leading
 * zeros of DER leniently and takes the same numbers from another frame.
 */
function numbersOf(signature: Buffer): number[] {
  const all = [...signature.keys()];
  if (signature[0] !== 0x30 || signature[1] !== signature.length - 2 || signature[2] !== 2) {
    return all;
  }
  const second = 4 + signature[3]!;
  const framing = new Set([
    0,
    1,
    2,
    3,
    second,
    second + 1,
    ...[4, second + 2].filter((at) => signature[at] === 0),
  ]);
  return all.filter((at) => !framing.has(at));
}
const flipNumber =
  (at: number, which: number) =>
  (signature: Buffer): Buffer => {
    const places = numbersOf(signature);
    return flip(places[at % places.length]!, which)(signature);
  };
const seen = (lies: Lies): Lie => ({ lies, library: true });
const ours = (lies: Lies): Lie => ({ lies, library: false });
const append =
  (bytes: Uint8Array) =>
  (to: Buffer): Buffer =>
    Buffer.concat([to, bytes]);
const some = fc.uint8Array({ minLength: 1, maxLength: 40 });
const nested = (levels: number): Buffer =>
  Buffer.concat([Buffer.alloc(levels, 0x81), Buffer.from([0])]);

/** Lies that both ceremonies know. */
const common: fc.Arbitrary<Lie>[] = [
  text.map((challenge) => seen({ clientData: { challenge } })),
  fc
    .oneof(
      text,
      fc.constantFrom(
        'https://id.example.test/',
        'https://id.example.test:443',
        'http://id.example.test',
        'https://evil.test',
        'https://id.example.test.evil.test',
        'https://sub.id.example.test',
        'null',
        'HTTPS://ID.EXAMPLE.TEST',
      ),
    )
    .map((origin) => seen({ clientData: { origin } })),
  fc
    .oneof(text, fc.constantFrom('webauthn.create ', 'payment.get', 'webauthn.GET'))
    .map((type) => seen({ clientData: { type } })),
  fc
    .constantFrom(true, 'true', 1, null)
    .map((crossOrigin) => ours({ clientData: { crossOrigin } })),
  fc
    .oneof(text, fc.constant('https://id.example.test'))
    .map((topOrigin) => ours({ clientData: { topOrigin } })),
  fc.constant(seen({ clientDataText: (json) => json.slice(0, -1) })),
  fc.constant(seen({ clientDataText: (json) => `[${json}]` })),
  text.map((rpID) => seen({ rpID })),
  fc.constant(seen({ flags: (flags) => flags & ~1 })),
  fc.constant(seen({ flags: (flags) => flags & ~4 })),
  fc.constant(seen({ flags: (flags) => (flags & ~8) | 16 })),
  some.map((rest) => seen({ authData: append(rest) })),
  fc.constant(seen({ authData: (bytes) => bytes.subarray(0, 36) })),
  text.filter((one) => one !== 'public-key').map((type) => seen({ credential: { type } })),
  fc
    .uint8Array({ minLength: 16, maxLength: 64 })
    .map((other) => seen({ credential: { rawId: Buffer.from(other).toString('base64url') } })),
];

const assertionLies = fc.oneof(
  ...common,
  fc.tuple(fc.nat(), bit).map(([at, which]) => seen({ signature: flipNumber(at, which) })),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => seen({ signature: () => Buffer.from(bytes) })),
  fc.integer({ min: 0, max: 5 }).map((counter) => seen({ counter })),
  fc.constantFrom(null, '').map((userHandle) => ours({ userHandle })),
  fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((bytes) => ours({ userHandle: Buffer.from(bytes).toString('base64url') }))
    .filter(({ lies }) => lies.userHandle !== handle),
  fc.constant(ours({ flags: (flags) => flags & ~24 })),
  fc
    .constantFrom('clientDataJSON', 'authenticatorData', 'signature')
    .chain((name) =>
      text
        .filter((one) => !/^[A-Za-z0-9_-]*$/.test(one))
        .map((value) => seen({ response: { [name]: value } })),
    ),
);

const withMember = (label: Item, value: Item) => ({
  key: (key: Map<Item, Item>) => new Map([...key, [label, value]]),
});
const registrationLies = fc.oneof(
  ...common,
  fc
    .constantFrom('=', '==', ' ', '\n', '+', '/')
    .map((end) => `${'A'.repeat(32)}${end}`)
    .map((id) => ours({ credential: { id, rawId: id } })),
  fc
    .constantFrom(-36, -37, -38, -39, -258, -259, -65535, -8000, 0)
    .map((alg) => seen(withMember(3, alg))),
  fc
    .constantFrom(1, 2, 3, 4)
    .map((kty) => ours({ key: (key) => new Map([...key, [1, key.get(1) === kty ? 9 : kty]]) })),
  fc.constantFrom(-1, -2, 1, 3).map((label) =>
    ours({
      key: (key) => {
        const less = new Map(key);
        less.delete(label);
        return less;
      },
    }),
  ),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) =>
    ours({
      key: () =>
        new Map<Item, Item>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(bytes)],
          [-3, Buffer.from(bytes)],
        ]),
    }),
  ),
  fc.constantFrom(0, 1, 15).map((size) =>
    ours({
      attestedID: Buffer.alloc(size, 7),
      credential: {
        id: Buffer.alloc(size, 7).toString('base64url'),
        rawId: Buffer.alloc(size, 7).toString('base64url'),
      },
    }),
  ),
  fc.constantFrom(1024, 2000).map((size) =>
    ours({
      attestedID: Buffer.alloc(size, 7),
      credential: {
        id: Buffer.alloc(size, 7).toString('base64url'),
        rawId: Buffer.alloc(size, 7).toString('base64url'),
      },
    }),
  ),
  fc
    .uint8Array({ minLength: 16, maxLength: 40 })
    .map((bytes) => ours({ attestedID: Buffer.from(bytes) })),
  fc.integer({ min: 5, max: 3_000 }).map((levels) => ours({ attestation: () => nested(levels) })),
  fc.constant(seen({ flags: (flags) => flags & ~64 })),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => ours({ attestation: () => Buffer.from(bytes) })),
);

/** The formats of an attestation that was not requested (WebAuthn 3 §8), and one not registered. */
const attestations = [
  'packed',
  'tpm',
  'android-key',
  'android-safetynet',
  'fido-u2f',
  'apple',
  'compound',
  'of-the-future',
];

/** A statement with a signature and certificates that verify with nothing. */
const statementOf = (format: string): Map<Item, Item> =>
  new Map<Item, Item>([
    ['ver', format],
    ['alg', -7],
    ['sig', randomBytes(70)],
    ['x5c', [randomBytes(900), randomBytes(1_200)]],
    ['pubArea', randomBytes(300)],
  ]);

const algorithm = fc.constantFrom(...algorithms);

describe('an authenticator that lies in any field', () => {
  test('is believed in nothing at a sign-in; where the library looks, it says the same', async () => {
    await fc.assert(
      fc.asyncProperty(algorithm, assertionLies, async (which, { lies, library }) => {
        const { authenticator, known } = held.get(which)!;
        const to = asking();
        const answer = authenticator.get(to, lies) as Assertion;
        expect((await verifyAssertion(answer, to, known)).verified).toBe(false);
        if (library) expect(await libraryTakesAssertion(answer, to, known, answer.id)).toBe(false);
      }),
      { numRuns: 700 },
    );
  });

  test('is believed in nothing at a registration', async () => {
    await fc.assert(
      fc.asyncProperty(algorithm, registrationLies, async (which, { lies, library }) => {
        const to = asking();
        const answer = held.get(which)!.authenticator.create(to, lies) as NewCredential;
        expect((await verifyRegistration(answer, to)).verified).toBe(false);
        if (library) expect(await libraryTakesRegistration(answer, to)).toBe(false);
      }),
      { numRuns: 700 },
    );
  });

  test('and what is true is believed by both', async () => {
    await fc.assert(
      fc.asyncProperty(
        algorithm,
        fc.constantFrom('none', ...attestations),
        fc.boolean(),
        fc.integer({ min: 6, max: 0xffff_ffff }),
        fc.integer({ min: 16, max: 1023 }),
        async (which, format, synced, counter, size) => {
          const statement = () => statementOf(format);
          const to = asking();
          const authenticator = new Authenticator({
            algorithm: which,
            synced,
            counter,
            id: randomBytes(size),
          });
          const made = authenticator.create(
            to,
            format === 'none' ? {} : { format, statement },
            handle,
          ) as NewCredential;
          const verdict = await verifyRegistration(made, to);
          expect(verdict).toMatchObject({
            verified: true,
            registration: {
              id: authenticator.id.toString('base64url'),
              counter,
              deviceType: synced ? 'multiDevice' : 'singleDevice',
              backedUp: synced,
              transports: ['hybrid', 'internal'],
            },
          });
          if (format === 'none') expect(await libraryTakesRegistration(made, to)).toBe(true);
          const { publicKey, deviceType } = (verdict as { registration: Registration })
            .registration;
          const known: KnownCredential = {
            publicKey,
            deviceType,
            counter: counter - 1,
            userHandle: handle,
          };
          const again = asking();
          const answer = authenticator.get(again) as Assertion;
          expect(await verifyAssertion(answer, again, known)).toEqual({
            verified: true,
            counter,
            backedUp: synced,
          });
          expect(await libraryTakesAssertion(answer, again, known, answer.id)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('one flipped bit anywhere in what is signed is detected', async () => {
    await fc.assert(
      fc.asyncProperty(
        algorithm,
        fc.constantFrom('clientDataJSON', 'authenticatorData', 'signature'),
        fc.nat(),
        bit,
        async (which, name, at, turned) => {
          const { authenticator, known } = held.get(which)!;
          const to = asking();
          const answer = authenticator.get(to) as Assertion;
          const response = answer.response as unknown as Record<string, string>;
          const change = (name === 'signature' ? flipNumber : flip)(at, turned);
          response[name] = change(Buffer.from(response[name]!, 'base64url')).toString('base64url');
          expect((await verifyAssertion(answer, to, known)).verified).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('counters', () => {
  const outcome = async (stored: number, sent: number): Promise<unknown> => {
    const { authenticator, known } = held.get('ES256')!;
    const to = asking();
    return verifyAssertion(authenticator.get(to, { counter: sent }) as Assertion, to, {
      ...known,
      counter: stored,
    });
  };
  test.each([
    [5, 5, false],
    [5, 4, false],
    [5, 0, false],
    [5, 6, true],
    [0, 0, true],
    [0, 1, true],
  ])('stored %i, sent %i', async (stored, sent, verified) => {
    expect(await outcome(stored, sent)).toMatchObject({ verified });
  });
});

test('unknown transports are left out, and a registration without transports is valid', async () => {
  const to = asking();
  const authenticator = new Authenticator();
  expect(
    await verifyRegistration(
      authenticator.create(to, { transports: ['usb', 'pigeon', 'usb', 'nfc'] }) as NewCredential,
      to,
    ),
  ).toMatchObject({ registration: { transports: ['nfc', 'usb'] } });
  expect(
    await verifyRegistration(
      authenticator.create(to, { response: { transports: undefined } }) as NewCredential,
      to,
    ),
  ).toMatchObject({ registration: { transports: [] } });
});

test('what is signed is the credential’s own: another key’s signature is refused', async () => {
  const { known, authenticator } = held.get('ES256')!;
  const to = asking();
  const thief = new Authenticator({ id: authenticator.id, counter: 9 });
  thief.userHandle = handle;
  expect(await verifyAssertion(thief.get(to) as Assertion, to, known)).toEqual({
    verified: false,
    why: 'invalid signature',
  });
  expect(await verifyAssertion(authenticator.get(to) as Assertion, to, undefined)).toMatchObject({
    verified: false,
  });
});

test('every refusal costs one verification, of a known credential and an unknown one', async () => {
  const { known, authenticator } = held.get('ES256')!;
  const verify = jest.spyOn(globalThis.crypto.subtle, 'verify');
  const cost = async (lies: Lies, whose: KnownCredential | undefined): Promise<number> => {
    const to = asking();
    verify.mockClear();
    expect(
      (await verifyAssertion(authenticator.get(to, lies) as Assertion, to, whose)).verified,
    ).toBe(false);
    return verify.mock.calls.length;
  };
  const tampered: Lies = {
    signature: (bytes) => {
      const copy = Buffer.from(bytes);
      copy[12]! ^= 1;
      return copy;
    },
  };
  const costs = [
    await cost(tampered, known),
    await cost({}, undefined),
    await cost({ clientData: { challenge: 'x' } }, known),
    await cost({ counter: 1 }, known),
    await cost({ credential: { id: '' } }, known),
    await cost({ userHandle: null }, known),
  ];
  verify.mockRestore();
  expect(costs).toEqual([1, 1, 1, 1, 1, 1]);
});
