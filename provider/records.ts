import type { AdapterPayload } from 'oidc-provider';
import { digest, type Keys } from '../registry/keys.js';

/** Where a library object stands: its id is a bearer secret and appears only as a hash. */
export const recordKey = (model: string, id: string): string => recordKeyOf(model, digest(id));

/** The same for an id that is already hashed. */
export const recordKeyOf = (model: string, hashed: string): string => `oidc/${model}/${hashed}`;

/** The index from a session's uid to the session. */
export const uidKey = (uid: string): string => `oidc/session-uid/${digest(uid)}`;

/** The index from what a person types to the device code; a code is short, so its hash is keyed. */
export const userCodeKey = (keys: Keys, code: string): string => `oidc/user-code/${keys.mac('user code', code).toString('hex')}`;

/** The prefix of everything issued under one library Grant. */
export const membersPrefix = (hashedGrant: string, model?: string): string => `oidc/grant/${hashedGrant}/${model ? `${model}/` : ''}`;

/** The prefix of the library's copies of one remembered Grant. */
export const copiesPrefix = (grant: string): string => `oidc/copy/${grant}/`;

/** Models whose objects hang on a Grant. */
export const grantable: ReadonlySet<string> = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode']);

interface Envelope { readonly model: string; readonly epoch: number; readonly payload: AdapterPayload }

/** Seals library objects for the store and opens them again; one of another model or of an older epoch is unknown. */
export class Records {
  readonly #keys: Keys;
  readonly #epoch: number;

  constructor(keys: Keys, epoch: number) {
    this.#keys = keys;
    this.#epoch = epoch;
  }

  seal(key: string, model: string, payload: AdapterPayload): Buffer {
    const envelope: Envelope = { model, epoch: this.#epoch, payload };
    return this.#keys.seal(key, JSON.stringify(envelope));
  }

  open(key: string, model: string, value: Buffer): AdapterPayload | undefined {
    if (!this.#keys.opens(value)) return undefined;
    const envelope = JSON.parse(this.#keys.open(key, value).toString()) as Envelope;
    return envelope.model === model && envelope.epoch >= this.#epoch ? envelope.payload : undefined;
  }
}
