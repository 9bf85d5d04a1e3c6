import type { AdapterPayload, GrantPayload, SessionPayload, SignedInPayload } from 'oidc-provider';
import { digest, type Keys } from '../../security/keyring.js';

/** Returns the key of a library object. Its id is a bearer secret and appears only as a hash. */
export const recordKey = (model: string, id: string): string => recordKeyOf(model, digest(id));

/** Returns the key for an id that is already hashed. */
export const recordKeyOf = (model: string, hashed: string): string => `oidc/${model}/${hashed}`;

/** Returns the hashed id in the key of a library object. */
export const hashIn = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** Returns the key of the index from a session's uid to the session. */
export const uidKey = (uid: string): string => `oidc/session-uid/${digest(uid)}`;

/**
 * Returns the key of the index from a user code to the device code. A user code is short, so its
 * hash is keyed.
 */
export const userCodeKey = (keys: Keys, code: string): string =>
  `oidc/user-code/${keys.mac('user code', code).toString('hex')}`;

/**
 * Returns the key prefix of the tokens issued under one library Grant. Codes have no such index: they
 * live a minute, and are found only while their Grant exists.
 */
export const membersPrefix = (hashedGrant: string, model?: string): string =>
  `oidc/grant/${hashedGrant}/${model ? `${model}/` : ''}`;

/** Returns the key prefix of the library's copies of one Grant object. */
export const copiesPrefix = (grant: string): string => `oidc/copy/${grant}/`;

/** Models whose objects belong to a Grant. */
export const grantable: ReadonlySet<string> = new Set([
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'DeviceCode',
]);

/** Whether the payload is that of a session. */
export const isSession = (model: string, payload: AdapterPayload): payload is SessionPayload =>
  model === 'Session' && payload.uid !== undefined;

/** Whether a person has signed in in the session. */
export const isSignedIn = (session: SessionPayload): session is SignedInPayload =>
  session.accountId !== undefined && session.loginTs !== undefined;

/** Whether the payload is that of a grant. */
export const isGrant = (model: string, payload: AdapterPayload): payload is GrantPayload =>
  model === 'Grant' && payload.accountId !== undefined && payload.clientId !== undefined;

interface Envelope {
  readonly model: string;
  readonly epoch: number;
  readonly payload: AdapterPayload;
}

/**
 * Encrypts library objects for the store and decrypts them. An object of another model or of an
 * older epoch is treated as absent.
 */
export class Records {
  readonly #keys: Keys;
  readonly #epoch: number;
  /** Caches what was encrypted, for stores that return the same buffer they were given. */
  readonly #sealed = new WeakMap<Buffer, { key: string; text: string }>();

  constructor(keys: Keys, epoch: number) {
    this.#keys = keys;
    this.#epoch = epoch;
  }

  seal(key: string, model: string, payload: AdapterPayload): Buffer {
    const envelope: Envelope = { model, epoch: this.#epoch, payload };
    const text = JSON.stringify(envelope);
    const sealed = this.#keys.seal(key, text);
    this.#sealed.set(sealed, { key, text });
    return sealed;
  }

  open(key: string, model: 'Grant', value: Buffer): GrantPayload | undefined;
  open(key: string, model: string, value: Buffer): AdapterPayload | undefined;
  open(key: string, model: string, value: Buffer): AdapterPayload | undefined {
    const cached = this.#sealed.get(value);
    if (cached?.key !== key && !this.#keys.opens(value)) return undefined;
    const envelope = JSON.parse(
      cached?.key === key ? cached.text : this.#keys.open(key, value).toString(),
    ) as Envelope;
    return envelope.model === model && envelope.epoch >= this.#epoch ? envelope.payload : undefined;
  }
}
