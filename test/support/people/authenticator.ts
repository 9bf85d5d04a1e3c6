import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Anything CBOR that an authenticator, or one that lies, may send. */
export type Item = number | string | boolean | null | Uint8Array | Item[] | Map<Item, Item> | Raw;

/** Bytes that stand in CBOR as they are. */
export class Raw {
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

function head(type: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(type << 5) | value]);
  if (value < 0x100) return Buffer.from([(type << 5) | 24, value]);
  if (value < 0x1_0000) return Buffer.from([(type << 5) | 25, value >> 8, value & 255]);
  const bytes = Buffer.from([(type << 5) | 26, 0, 0, 0, 0]);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

/** CBOR in CTAP2's form. */
export function cbor(item: Item): Buffer {
  if (item instanceof Raw) return item.bytes;
  if (typeof item === 'number') return item < 0 ? head(1, -1 - item) : head(0, item);
  if (typeof item === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(item)), Buffer.from(item)]);
  }
  if (item === null) return Buffer.from([0xf6]);
  if (typeof item === 'boolean') return Buffer.from([item ? 0xf5 : 0xf4]);
  if (item instanceof Uint8Array) return Buffer.concat([head(2, item.length), item]);
  if (Array.isArray(item)) return Buffer.concat([head(4, item.length), ...item.map(cbor)]);
  return Buffer.concat([
    head(5, item.size),
    ...[...item].flatMap(([key, value]) => [cbor(key), cbor(value)]),
  ]);
}

export const algorithms = ['ES256', 'EdDSA', 'RS256'] as const;
export type Algorithm = (typeof algorithms)[number];

const numbers: Record<Algorithm, number> = { ES256: -7, EdDSA: -8, RS256: -257 };
const bytesOf = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
const hashed = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
const encoded = (bytes: Buffer): string => bytes.toString('base64url');

let pairs: Partial<Record<Algorithm, { publicKey: KeyObject; privateKey: KeyObject }>> = {};

const makers = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

/** A pair of keys; of RSA, which takes long to make, the same one again where `shared`. */
function pairOf(
  algorithm: Algorithm,
  shared: boolean,
): { publicKey: KeyObject; privateKey: KeyObject } {
  const make = makers[algorithm];
  return algorithm === 'RS256' && shared ? (pairs[algorithm] ??= make()) : make();
}

/** The COSE key of a public key. */
export function coseKey(algorithm: Algorithm, key: KeyObject): Map<Item, Item> {
  const jwk = key.export({ format: 'jwk' }) as Record<string, string>;
  if (algorithm === 'RS256') {
    return new Map<Item, Item>([
      [1, 3],
      [3, -257],
      [-1, bytesOf(jwk.n)],
      [-2, bytesOf(jwk.e)],
    ]);
  }
  if (algorithm === 'EdDSA') {
    return new Map<Item, Item>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytesOf(jwk.x)],
    ]);
  }
  return new Map<Item, Item>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytesOf(jwk.x)],
    [-3, bytesOf(jwk.y)],
  ]);
}

/** Who asks a ceremony, as a browser knows it. */
export interface Asking {
  readonly challenge: string;
  readonly origin: string;
  readonly rpID: string;
}

/**
 * The forged parts of an answer; all else is true. `text` and `bytes` receive what would be sent and
 * return what is sent.
 */
export interface Lies {
  readonly clientData?: Readonly<Record<string, unknown>>;
  readonly clientDataText?: (text: string) => string;
  readonly rpID?: string;
  readonly flags?: (flags: number) => number;
  readonly counter?: number;
  readonly aaguid?: Buffer;
  readonly attestedID?: Buffer;
  readonly key?: (key: Map<Item, Item>) => Map<Item, Item>;
  readonly authData?: (bytes: Buffer) => Buffer;
  readonly format?: string;
  readonly statement?: (statement: Map<Item, Item>) => Map<Item, Item>;
  readonly attestation?: (bytes: Buffer) => Buffer;
  readonly signature?: (bytes: Buffer) => Buffer;
  readonly userHandle?: string | null;
  /** Members of the credential put in place of the true ones. */
  readonly credential?: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly transports?: readonly string[];
}

/** A software authenticator with one credential that can lie in every field. */
export class Authenticator {
  readonly algorithm: Algorithm;
  readonly id: Buffer;
  readonly synced: boolean;
  readonly aaguid: Buffer;
  readonly publicKey: KeyObject;
  readonly #privateKey: KeyObject;
  /** The counter of the next answer; one that stays at zero is none. */
  counter: number;
  userHandle = '';

  constructor({
    algorithm = 'ES256',
    id = randomBytes(32),
    synced = true,
    counter = 0,
    aaguid = 'bada5566a7aa401fbd9645619a55120d',
    shared = true,
  }: {
    algorithm?: Algorithm;
    id?: Buffer;
    synced?: boolean;
    counter?: number;
    aaguid?: string;
    shared?: boolean;
  } = {}) {
    this.algorithm = algorithm;
    this.id = id;
    this.synced = synced;
    this.counter = counter;
    this.aaguid = Buffer.from(aaguid, 'hex');
    const pair = pairOf(algorithm, shared);
    this.publicKey = pair.publicKey;
    this.#privateKey = pair.privateKey;
  }

  /** What a browser sends after `navigator.credentials.create`. */
  create(asking: Asking, lies: Lies = {}, userHandle?: string): Record<string, unknown> {
    if (userHandle !== undefined) this.userHandle = userHandle;
    const clientData = this.#clientData('webauthn.create', asking, lies);
    const key = coseKey(this.algorithm, this.publicKey);
    const id = lies.attestedID ?? this.id;
    const attested = Buffer.concat([
      lies.aaguid ?? this.aaguid,
      Buffer.from([id.length >> 8, id.length & 255]),
      id,
      cbor(lies.key?.(key) ?? key),
    ]);
    const authData = this.#authData(asking, lies, 64, attested);
    const format = lies.format ?? 'none';
    const signed = (): Map<Item, Item> =>
      new Map<Item, Item>([
        ['alg', numbers[this.algorithm]],
        ['sig', this.sign(Buffer.concat([authData, hashed(clientData)]))],
      ]);
    const statement = format === 'packed' ? signed() : new Map<Item, Item>();
    const object = cbor(
      new Map<Item, Item>([
        ['fmt', format],
        ['attStmt', lies.statement?.(statement) ?? statement],
        ['authData', authData],
      ]),
    );
    return this.#answer(
      {
        clientDataJSON: encoded(clientData),
        attestationObject: encoded(lies.attestation?.(object) ?? object),
        transports: lies.transports ?? ['internal', 'hybrid'],
      },
      lies,
    );
  }

  /** What a browser sends after `navigator.credentials.get`. */
  get(asking: Asking, lies: Lies = {}): Record<string, unknown> {
    const clientData = this.#clientData('webauthn.get', asking, lies);
    const authData = this.#authData(asking, lies, 0, Buffer.alloc(0));
    const signature = this.sign(Buffer.concat([authData, hashed(clientData)]));
    const userHandle = lies.userHandle === undefined ? this.userHandle : lies.userHandle;
    return this.#answer(
      {
        clientDataJSON: encoded(clientData),
        authenticatorData: encoded(authData),
        signature: encoded(lies.signature?.(signature) ?? signature),
        ...(userHandle !== null && { userHandle }),
      },
      lies,
    );
  }

  sign(data: Buffer): Buffer {
    return sign(this.algorithm === 'EdDSA' ? null : 'sha256', data, this.#privateKey);
  }

  #clientData(type: string, { challenge, origin }: Asking, lies: Lies): Buffer {
    const text = JSON.stringify({
      type,
      challenge,
      origin,
      crossOrigin: false,
      ...lies.clientData,
    });
    return Buffer.from(lies.clientDataText?.(text) ?? text);
  }

  #authData({ rpID }: Asking, lies: Lies, more: number, rest: Buffer): Buffer {
    const flags = 5 | (this.synced ? 24 : 0) | more;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(lies.counter ?? this.counter);
    const bytes = Buffer.concat([
      hashed(lies.rpID ?? rpID),
      Buffer.from([lies.flags?.(flags) ?? flags]),
      counter,
      rest,
    ]);
    return lies.authData?.(bytes) ?? bytes;
  }

  #answer(response: Record<string, unknown>, lies: Lies): Record<string, unknown> {
    const id = encoded(this.id);
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response: { ...response, ...lies.response },
      ...lies.credential,
    };
  }
}
