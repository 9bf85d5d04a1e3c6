import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { z } from 'zod';
import { BoundedMap } from './bounded-map.js';

const secret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43,}$/)
  .describe('256 random bits, base64url.');

/**
 * The keys file: ordered, the first of its kind signs or seals, all verify or open
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

const rememberedSignatures = 10_000;

const random = (): string => randomBytes(32).toString('base64url');

/** RFC 7638 thumbprint of an EC or RSA key, base64url. */
export function thumbprint(jwk: Record<string, unknown>): string {
  const members = jwk.kty === 'EC' ? ['crv', 'kty', 'x', 'y'] : ['e', 'kty', 'n'];
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))))
    .digest('base64url');
}

function signingKey(alg: 'ES256' | 'RS256'): Record<string, unknown> {
  const pair =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 3072 });
  const jwk = { ...pair.privateKey.export({ format: 'jwk' }) } as Record<string, unknown>;
  return { ...jwk, alg, use: 'sig', kid: thumbprint(jwk) };
}

/** New keys, as `vestibule keys new` writes them. */
export const newKeys = (): KeysFile => ({
  cookies: [random()],
  sealing: [random()],
  hmac: [random()],
  pairwise: random(),
  dpopNonce: random(),
  signing: [signingKey('ES256'), signingKey('RS256')],
});

/**
 * What the keys of each sort are known by, where a key itself must not be told: hashes of secrets
 * of 256 bits, thumbprints of those that sign.
 */
export type KeyIDs = Readonly<
  Record<'cookies' | 'hmac' | 'sealing' | 'signing', readonly string[]>
>;
type Sort = keyof KeyIDs;

/** Every sort of keys that a rotation changes. */
export const allSorts: readonly Sort[] = ['cookies', 'hmac', 'sealing', 'signing'];

/** A keys file in the form that it is used in. */
interface Ready {
  readonly text: string;
  readonly ids: KeyIDs;
  readonly signing: readonly Record<string, unknown>[];
  readonly pairwise: Buffer;
  readonly dpopNonce: Buffer;
  readonly cookies: readonly KeyObject[];
  readonly hmac: readonly KeyObject[];
  readonly sealing: readonly { id: number; key: KeyObject }[];
  /** Sorts of which every key was dropped: nothing is opened or verified by them. */
  readonly exhausted: ReadonlySet<Sort>;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

function idsOf({ cookies, hmac, sealing, signing }: KeysFile): KeyIDs {
  const ids = (sort: string, keys: readonly string[]): string[] =>
    keys.map((text) =>
      hash('sha256', `vestibule key id\0${sort}\0${text}`, 'base64url').slice(0, 22),
    );
  return {
    cookies: ids('cookies', cookies),
    hmac: ids('hmac', hmac),
    sealing: ids('sealing', sealing),
    signing: signing.map(thumbprint),
  };
}

/**
 * A keys file without the keys that were dropped; of a sort of which none would be left, all stay,
 * to make what no one opens.
 */
function without(
  file: KeysFile,
  dropped: ReadonlySet<string>,
): { file: KeysFile; exhausted: Set<Sort> } {
  const ids = idsOf(file);
  const exhausted = new Set<Sort>();
  const left = allSorts.map((sort) => {
    const live = (file[sort] as unknown[]).filter(
      (_, i) => !dropped.has(`${sort} ${ids[sort][i]}`),
    );
    const isUsable =
      sort === 'signing'
        ? ['ES256', 'RS256'].every((alg) =>
            (live as { alg?: unknown }[]).some((jwk) => jwk.alg === alg),
          )
        : live.length > 0;
    if (!isUsable) exhausted.add(sort);
    return [sort, isUsable ? live : file[sort]];
  });
  return { file: { ...file, ...Object.fromEntries(left) }, exhausted };
}

function readyOf(whole: KeysFile, dropped: ReadonlySet<string> = new Set()): Ready {
  const { file, exhausted } = without(whole, dropped);
  for (const jwk of file.signing) createPrivateKey({ key: jwk as never, format: 'jwk' });
  for (const alg of ['ES256', 'RS256'])
    if (!file.signing.some((jwk) => jwk.alg === alg))
      throw new Error(`the keys file has no signing key for ${alg}`);
  return {
    text: JSON.stringify(file),
    exhausted,
    ids: idsOf(file),
    signing: file.signing,
    pairwise: bytes(file.pairwise),
    dpopNonce: bytes(file.dpopNonce).subarray(0, 32),
    cookies: file.cookies.map((text) => createSecretKey(bytes(text))),
    hmac: file.hmac.map((text) => createSecretKey(bytes(text))),
    sealing: file.sealing.map((text) => {
      const key = Buffer.from(hkdfSync('sha256', bytes(text), '', 'vestibule sealing', 32));
      return {
        id: createHash('sha256').update(key).digest().readUInt32BE(0),
        key: createSecretKey(key),
      };
    }),
  };
}

/**
 * Seals what is read again, MACs what is only compared, signs cookies: every use of the keys file
 * but ID tokens (docs/design/security.md#stored-secrets).
 */
export class Keys {
  /** What the keys file says now, ready for use. */
  #now: Ready;
  /** Cookies whose signature was found good, with the key it was made by. */
  readonly #signed = new BoundedMap<string, number>(rememberedSignatures);
  #version = 0;
  #file: KeysFile;
  readonly #dropped = new Set<string>();

  /** Throws where there is no signing key for ES256 or for RS256, or one is malformed. */
  constructor(file: KeysFile) {
    this.#now = readyOf(file);
    this.#file = file;
  }

  /** Private JWKs for ID tokens, the first of its algorithm signs. */
  get signing(): readonly Record<string, unknown>[] {
    return this.#now.signing;
  }
  get pairwise(): Buffer {
    return this.#now.pairwise;
  }
  get dpopNonce(): Buffer {
    return this.#now.dpopNonce;
  }

  /** What the keys in use are known by. */
  ids(): KeyIDs {
    return this.#now.ids;
  }

  /**
   * How often other keys were taken over: anyone who keeps something that was made of them looks at
   * it.
   */
  get version(): number {
    return this.#version;
  }

  /**
   * Takes over another keys file at once; answers false where it says the same. Throws, and changes
   * nothing, where it cannot be used: the pairwise key is never another, since every subject would
   * be.
   */
  take(file: KeysFile): boolean {
    const next = readyOf(file, this.#dropped);
    if (!next.pairwise.equals(this.#now.pairwise))
      throw new Error(
        'keys file: `pairwise` must not change; it would change the `sub` of every pairwise Client',
      );
    this.#file = file;
    if (next.text === this.#now.text) return false;
    this.#use(next);
    return true;
  }

  /**
   * Stops opening and verifying by keys that were dropped, whatever the keys file says, now and
   * later; answers the sorts of which none is left.
   */
  drop(ids: Partial<KeyIDs>): readonly Sort[] {
    const before = this.#dropped.size;
    for (const sort of allSorts)
      for (const id of ids[sort] ?? []) this.#dropped.add(`${sort} ${id}`);
    if (this.#dropped.size > before) this.#use(readyOf(this.#file, this.#dropped));
    return [...this.#now.exhausted];
  }

  #use(next: Ready): void {
    this.#now = next;
    this.#signed.clear();
    this.#version += 1;
  }

  /**
   * AES-256-GCM under the newest sealing key, bound to `context` (the storage key): opened
   * elsewhere it fails.
   */
  seal(context: string, plain: Buffer | string): Buffer {
    const { id, key } = this.#now.sealing[0]!;
    const iv = nonce();
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain as never), cipher.final()]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(id);
    return Buffer.concat([head, iv, cipher.getAuthTag(), body]);
  }

  /** Whether the key that sealed it is still in the keys file. */
  opens(sealed: Buffer): boolean {
    return (
      !this.#now.exhausted.has('sealing') &&
      this.#now.sealing.some(({ id }) => id === sealed.readUInt32BE(0))
    );
  }

  /** What was sealed for the same context, under any live key; throws when it was not. */
  open(context: string, sealed: Buffer): Buffer {
    const id = sealed.readUInt32BE(0);
    const found = this.#now.exhausted.has('sealing')
      ? undefined
      : this.#now.sealing.find((candidate) => candidate.id === id);
    if (!found) throw new Error('sealed under a key that is no longer in the keys file');
    const decipher = createDecipheriv('aes-256-gcm', found.key, sealed.subarray(4, 16))
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(16, 32));
    return Buffer.concat([decipher.update(sealed.subarray(32)), decipher.final()]);
  }

  /** HMAC-SHA-256 by purpose under the newest key. */
  mac(purpose: string, data: string): Buffer {
    return keyed(this.#now.hmac[0]!, purpose, data);
  }

  /** Whether `mac` is the one of `data` under any live key, in constant time. */
  macMatches(purpose: string, data: string, mac: Buffer): boolean {
    return (
      !this.#now.exhausted.has('hmac') &&
      this.#now.hmac.some((key) => same(keyed(key, purpose, data), mac))
    );
  }

  /** The signature of a cookie's `<name>=<value>`, base64url (docs/design/security.md#cookies). */
  signCookie(data: string): string {
    const signature = createHmac('sha256', this.#now.cookies[0]!).update(data).digest('base64url');
    this.#signed.set(`${data}.${signature}`, 0);
    return signature;
  }

  /** Which live cookie key made `signature`: 0 for the newest, −1 for none. */
  cookieKeyIndex(data: string, signature: string): number {
    if (this.#now.exhausted.has('cookies')) return -1;
    const pair = `${data}.${signature}`;
    const known = this.#signed.get(pair);
    if (known !== undefined) return known;
    const given = Buffer.from(signature);
    const index = this.#now.cookies.findIndex((key) =>
      same(Buffer.from(createHmac('sha256', key).update(data).digest('base64url')), given),
    );
    if (index >= 0) this.#signed.set(pair, index);
    return index;
  }
}

let pool = Buffer.alloc(0);

/** Twelve random bytes, drawn from the CSPRNG by the page. */
function nonce(): Buffer {
  if (pool.length < 12) pool = randomBytes(4_092);
  const taken = pool.subarray(0, 12);
  pool = pool.subarray(12);
  return taken;
}

const keyed = (key: KeyObject, purpose: string, data: string): Buffer =>
  createHmac('sha256', key).update(`${purpose}\0${data}`).digest();
const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** SHA-256 in base64url: how an id that is a secret stands in a key. */
export const digest = (id: string): string => hash('sha256', id, 'base64url');

/**
 * The first 20 bytes of SHA-256 in lower-case base32 without padding (RFC 4648 §6): a public name
 * made of a secret id (docs/design/api.md#names).
 */
export function nameOf(id: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  let bits = 0,
    held = 0,
    name = '';
  for (const byte of hash('sha256', id, 'buffer').subarray(0, 20)) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) name += alphabet[(held >>> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return name;
}
