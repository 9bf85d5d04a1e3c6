import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { z } from 'zod';
import { BoundedMap } from './bounded-map.js';

const secret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43,}$/)
  .describe('256 random bits, base64url.');

/**
 * The keys file. Lists are ordered: the first key of a type signs or seals, all verify or open
 * (docs/design/operations.md#keys).
 */
export const KeysFile = z.object({
  cookies: z.array(secret).min(1),
  sealing: z.array(secret).min(1),
  hmac: z.array(secret).min(1),
  pairwise: secret,
  dpopNonce: secret,
  signing: z.array(z.record(z.string(), z.unknown())).min(2),
  unused: z
    .boolean()
    .optional()
    .describe(
      'Whether the last of each sort were added and are still to come first; files of before do not say.',
    ),
});
export type KeysFile = z.infer<typeof KeysFile>;

const maxCachedSignatures = 10_000;

const randomSecret = (): string => randomBytes(32).toString('base64url');

/** Returns the RFC 7638 thumbprint of an EC or RSA key, base64url. */
export function thumbprint(jwk: Record<string, unknown>): string {
  const members = jwk.kty === 'EC' ? ['crv', 'kty', 'x', 'y'] : ['e', 'kty', 'n'];
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))))
    .digest('base64url');
}

function signingKey(alg: 'ES256' | 'RS256'): Record<string, unknown> {
  const keyPair =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 3072 });
  const jwk = { ...keyPair.privateKey.export({ format: 'jwk' }) };
  return { ...jwk, alg, use: 'sig', kid: thumbprint(jwk) };
}

/** Generates keys, as `vestibule keys new` writes them. */
export const newKeys = (): KeysFile => ({
  cookies: [randomSecret()],
  sealing: [randomSecret()],
  hmac: [randomSecret()],
  pairwise: randomSecret(),
  dpopNonce: randomSecret(),
  signing: [signingKey('ES256'), signingKey('RS256')],
});

/** Public ids of the keys of each type: hashes of 256-bit secrets, thumbprints of signing keys. */
export type KeyIDs = Readonly<
  Record<'cookies' | 'hmac' | 'sealing' | 'signing', readonly string[]>
>;
type KeyType = keyof KeyIDs;

/** The types of keys that a rotation changes. */
export const keyTypes: readonly KeyType[] = ['cookies', 'hmac', 'sealing', 'signing'];

/** A private key that signs tokens, prepared for use. */
export interface SigningKey {
  readonly alg: string;
  /** The RFC 7638 thumbprint. */
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function prepareSigningKey(jwk: Record<string, unknown>): SigningKey {
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = createPublicKey(privateKey);
  return { alg: String(jwk.alg), kid: thumbprint(jwk), privateKey, publicKey };
}

/** A keys file prepared for use. */
interface ActiveKeys {
  readonly text: string;
  readonly ids: KeyIDs;
  readonly signing: readonly SigningKey[];
  readonly pairwise: Buffer;
  readonly dpopNonce: Buffer;
  readonly cookies: readonly KeyObject[];
  readonly hmac: readonly KeyObject[];
  readonly sealing: readonly { id: number; key: KeyObject }[];
  /** Types of which every key was dropped; nothing is opened or verified with them. */
  readonly exhausted: ReadonlySet<KeyType>;
}

const decodeBase64 = (text: string): Buffer => Buffer.from(text, 'base64url');

function idsOf({ cookies, hmac, sealing, signing }: KeysFile): KeyIDs {
  const ids = (keyType: string, keys: readonly string[]): string[] =>
    keys.map((text) =>
      hash('sha256', `vestibule key id\0${keyType}\0${text}`, 'base64url').slice(0, 22),
    );
  return {
    cookies: ids('cookies', cookies),
    hmac: ids('hmac', hmac),
    sealing: ids('sealing', sealing),
    signing: signing.map(thumbprint),
  };
}

/**
 * Returns a keys file without dropped keys. A type without any remaining key keeps all, to produce
 * what no one can open.
 */
function withoutDropped(
  file: KeysFile,
  dropped: ReadonlySet<string>,
): { file: KeysFile; exhausted: Set<KeyType> } {
  const ids = idsOf(file);
  const exhausted = new Set<KeyType>();
  const remaining = keyTypes.map((keyType) => {
    const liveKeys = file[keyType].filter((_, i) => !dropped.has(`${keyType} ${ids[keyType][i]}`));
    const isUsable =
      keyType === 'signing'
        ? ['ES256', 'RS256'].every((alg) =>
            (liveKeys as { alg?: unknown }[]).some((jwk) => jwk.alg === alg),
          )
        : liveKeys.length > 0;
    if (!isUsable) exhausted.add(keyType);
    return [keyType, isUsable ? liveKeys : file[keyType]];
  });
  return { file: { ...file, ...Object.fromEntries(remaining) }, exhausted };
}

function prepareKeys(keysFile: KeysFile, dropped: ReadonlySet<string> = new Set()): ActiveKeys {
  const { file, exhausted } = withoutDropped(keysFile, dropped);
  const signing = file.signing.map(prepareSigningKey);
  for (const alg of ['ES256', 'RS256']) {
    if (!signing.some((key) => key.alg === alg)) {
      throw new Error(`the keys file has no signing key for ${alg}`);
    }
  }
  return {
    text: JSON.stringify(file),
    exhausted,
    ids: idsOf(file),
    signing,
    pairwise: decodeBase64(file.pairwise),
    dpopNonce: decodeBase64(file.dpopNonce).subarray(0, 32),
    cookies: file.cookies.map((text) => createSecretKey(decodeBase64(text))),
    hmac: file.hmac.map((text) => createSecretKey(decodeBase64(text))),
    sealing: file.sealing.map((text) => {
      const key = Buffer.from(hkdfSync('sha256', decodeBase64(text), '', 'vestibule sealing', 32));
      return {
        id: createHash('sha256').update(key).digest().readUInt32BE(0),
        key: createSecretKey(key),
      };
    }),
  };
}

/**
 * Seals what is read again, MACs what is only compared, and signs cookies: every use of the keys
 * file except ID tokens (docs/design/security.md#stored-secrets).
 */
export class Keys {
  /** The current keys. */
  #active: ActiveKeys;
  /** Cookies with a valid signature, with the index of the key. */
  readonly #verifiedCookies = new BoundedMap<string, number>(maxCachedSignatures);
  #version = 0;
  #file: KeysFile;
  readonly #dropped = new Set<string>();

  /** Throws if there is no signing key for ES256 or for RS256, or one is malformed. */
  constructor(file: KeysFile) {
    this.#active = prepareKeys(file);
    this.#file = file;
  }

  /** The keys that sign tokens; the first of an algorithm signs. */
  get signing(): readonly SigningKey[] {
    return this.#active.signing;
  }
  get pairwise(): Buffer {
    return this.#active.pairwise;
  }
  get dpopNonce(): Buffer {
    return this.#active.dpopNonce;
  }

  /** Returns the ids of the current keys. */
  ids(): KeyIDs {
    return this.#active.ids;
  }

  /** Incremented when the keys change, so that holders of derived values can update them. */
  get version(): number {
    return this.#version;
  }

  /**
   * Replaces the keys at once; returns false if nothing changed. Throws and changes nothing if the
   * file cannot be used. The pairwise key must not change, since every subject would.
   */
  replace(file: KeysFile): boolean {
    const next = prepareKeys(file, this.#dropped);
    if (!next.pairwise.equals(this.#active.pairwise)) {
      throw new Error(
        'keys file: `pairwise` must not change; it would change the `sub` of every pairwise Client',
      );
    }
    this.#file = file;
    if (next.text === this.#active.text) return false;
    this.#activate(next);
    return true;
  }

  /**
   * Stops opening and verifying with dropped keys, also if a later keys file contains them. Returns
   * the types that have no key left.
   */
  drop(ids: Partial<KeyIDs>): readonly KeyType[] {
    const droppedCount = this.#dropped.size;
    for (const keyType of keyTypes) {
      for (const id of ids[keyType] ?? []) this.#dropped.add(`${keyType} ${id}`);
    }
    if (this.#dropped.size > droppedCount) this.#activate(prepareKeys(this.#file, this.#dropped));
    return [...this.#active.exhausted];
  }

  #activate(next: ActiveKeys): void {
    this.#active = next;
    this.#verifiedCookies.clear();
    this.#version += 1;
  }

  /**
   * Encrypts with AES-256-GCM under the newest sealing key, bound to `context` (the storage key);
   * opening it under another context fails.
   */
  seal(context: string, plain: Buffer | string): Buffer {
    const { id, key } = this.#active.sealing[0]!;
    const iv = nonce();
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(id);
    return Buffer.concat([head, iv, cipher.getAuthTag(), body]);
  }

  /** Returns whether the key that sealed it is still in the keys file. */
  opens(sealed: Buffer): boolean {
    return (
      !this.#active.exhausted.has('sealing') &&
      this.#active.sealing.some(({ id }) => id === sealed.readUInt32BE(0))
    );
  }

  /** Returns whether the newest sealing key sealed it. */
  isSealedByNewest(sealed: Buffer): boolean {
    return sealed.readUInt32BE(0) === this.#active.sealing[0]!.id;
  }

  /** Opens what any current key sealed for the same context; throws if none did. */
  open(context: string, sealed: Buffer): Buffer {
    const id = sealed.readUInt32BE(0);
    const sealingKey = this.#active.exhausted.has('sealing')
      ? undefined
      : this.#active.sealing.find((candidate) => candidate.id === id);
    if (!sealingKey) throw new Error('sealed under a key that is no longer in the keys file');
    const decipher = createDecipheriv('aes-256-gcm', sealingKey.key, sealed.subarray(4, 16))
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(16, 32));
    return Buffer.concat([decipher.update(sealed.subarray(32)), decipher.final()]);
  }

  /** Returns the HMAC-SHA-256 of data for a purpose under the newest key. */
  mac(purpose: string, data: string): Buffer {
    return hmacOf(this.#active.hmac[0]!, purpose, data);
  }

  /** Returns whether `mac` is valid for `data` under any current key, in constant time. */
  macMatches(purpose: string, data: string, mac: Buffer): boolean {
    return (
      !this.#active.exhausted.has('hmac') &&
      this.#active.hmac.some((key) => isEqual(hmacOf(key, purpose, data), mac))
    );
  }

  /**
   * Returns the signature of a cookie's `<name>=<value>`, base64url
   * (docs/design/security.md#cookies).
   */
  signCookie(data: string): string {
    const signature = createHmac('sha256', this.#active.cookies[0]!)
      .update(data)
      .digest('base64url');
    this.#verifiedCookies.set(`${data}.${signature}`, 0);
    return signature;
  }

  /**
   * Returns the index of the current cookie key that made `signature`: 0 for the newest, −1 for
   * none.
   */
  cookieKeyIndex(data: string, signature: string): number {
    if (this.#active.exhausted.has('cookies')) return -1;
    const signedCookie = `${data}.${signature}`;
    const cachedIndex = this.#verifiedCookies.get(signedCookie);
    if (cachedIndex !== undefined) return cachedIndex;
    const signatureBytes = Buffer.from(signature);
    const index = this.#active.cookies.findIndex((key) =>
      isEqual(
        Buffer.from(createHmac('sha256', key).update(data).digest('base64url')),
        signatureBytes,
      ),
    );
    if (index >= 0) this.#verifiedCookies.set(signedCookie, index);
    return index;
  }
}

let pool = Buffer.alloc(0);

/** Returns twelve random bytes; the CSPRNG is called for a page at a time. */
function nonce(): Buffer {
  if (pool.length < 12) pool = randomBytes(4_092);
  const taken = pool.subarray(0, 12);
  pool = pool.subarray(12);
  return taken;
}

const hmacOf = (key: KeyObject, purpose: string, data: string): Buffer =>
  createHmac('sha256', key).update(`${purpose}\0${data}`).digest();
const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Returns the SHA-256 in base64url: the form of a secret id in a storage key. */
export const digest = (id: string): string => hash('sha256', id, 'base64url');

/**
 * Returns the first 20 bytes of SHA-256 in lower-case base32 without padding (RFC 4648 §6): a
 * public name derived from a secret id (docs/design/api.md#names).
 */
export function nameOf(id: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  // Not a string that grows by letters: as long as it lives, all of its beginnings do.
  const name = Buffer.allocUnsafe(32);
  let [bits, accumulator, length] = [0, 0, 0];
  for (const byte of hash('sha256', id, 'buffer').subarray(0, 20)) {
    accumulator = (accumulator << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) {
      name[length++] = alphabet.charCodeAt((accumulator >>> (bits - 5)) & 31);
    }
    accumulator &= (1 << bits) - 1;
  }
  return name.toString('latin1');
}
