import type { AdapterPayload } from 'oidc-provider';
import { digest, type Keys } from '../../security/keyring.js';

/** Where a library object stands: its id is a bearer secret and appears only as a hash. */
export const recordKey = (model: string, id: string): string => recordKeyOf(model, digest(id));

/** The same for an id that is already hashed. */
export const recordKeyOf = (model: string, hashed: string): string => `oidc/${model}/${hashed}`;

/** The index from a session's uid to the session. */
export const uidKey = (uid: string): string => `oidc/session-uid/${digest(uid)}`;

/** The index from what a person types to the device code; a code is short, so its hash is keyed. */
export const userCodeKey = (keys: Keys, code: string): string =>
  `oidc/user-code/${keys.mac('user code', code).toString('hex')}`;

/** The prefix of everything issued under one library Grant. */
export const membersPrefix = (hashedGrant: string, model?: string): string =>
  `oidc/grant/${hashedGrant}/${model ? `${model}/` : ''}`;

/** The prefix of the library's copies of one remembered Grant. */
export const copiesPrefix = (grant: string): string => `oidc/copy/${grant}/`;

/** Models whose objects hang on a Grant. */
export const grantable: ReadonlySet<string> = new Set([
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'DeviceCode',
]);

interface Envelope {
  readonly model: string;
  readonly epoch: number;
  readonly payload: AdapterPayload;
}

/**
 * Seals library objects for the store and opens them again; one of another model or of an older
 * epoch is unknown.
 */
export class Records {
  readonly #keys: Keys;
  readonly #epoch: number;
  /** What was sealed here, for as long as a store hands back the very buffer it was given. */
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

  open(key: string, model: string, value: Buffer): AdapterPayload | undefined {
    const held = this.#sealed.get(value);
    if (held?.key !== key && !this.#keys.opens(value)) return undefined;
    const envelope = JSON.parse(
      held?.key === key ? held.text : this.#keys.open(key, value).toString(),
    ) as Envelope;
    return envelope.model === model && envelope.epoch >= this.#epoch ? envelope.payload : undefined;
  }
}
