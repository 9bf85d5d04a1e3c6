import type { Caller } from '../../registry/kind.js';
import { forbiddenField } from '../../registry/status/field-errors.js';
import { badRequest, invalid } from '../../registry/status/status.js';
import { BoundedMap } from '../../security/bounded-map.js';
import type { Keys } from '../../security/keyring.js';
import type { Revision } from '../../storage/storage.js';
import type { Query } from '../codec/query.js';
import type { AuthorizedResourceRequest } from '../http/message.js';
import { optionsKind } from '../request/options-kind.js';

/**
 * The position of a list: revision `r`, last key `k`, the selectors `q`, and the number `n` of
 * following items if all are visible.
 */
export interface ContinueToken {
  r: Revision;
  k: string;
  q: string;
  n?: number;
}

/** Tokens kept, so that a page that is read again and again is not sealed each time. */
const cacheSize = 1_000;

/** Seals and opens `continue` tokens. */
export class ContinueTokens {
  readonly #keys: Keys;
  readonly #sealed = new BoundedMap<string, string>(cacheSize);

  readonly #purpose: string;

  /** Tokens of one purpose are not valid for another. */
  constructor(keys: Keys, purpose = 'continue') {
    this.#keys = keys;
    this.#purpose = purpose;
  }

  /** Returns the token of a query. Throws if it belongs to another list. */
  open(authorized: AuthorizedResourceRequest, query: Query): ContinueToken | undefined {
    const text = query.get('continue') || undefined;
    if (text === undefined) return undefined;
    if (query.has('resourceVersionMatch')) {
      throw invalid(optionsKind('list'), '', [
        forbiddenField('resourceVersionMatch', 'not with continue'),
      ]);
    }
    if (!['', '0', undefined].includes(query.get('resourceVersion'))) {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    try {
      const sealed = Buffer.from(text, 'base64url');
      const token = JSON.parse(
        this.#keys.open(this.#bindingOf(authorized), sealed).toString(),
      ) as ContinueToken;
      if (token.q === selectorFingerprint(query) && sealed.toString('base64url') === text) {
        return token;
      }
    } catch {
      /* The error below covers every fault of the token. */
    }
    throw badRequest('continue key is not valid');
  }

  /** Returns the token of the next page; the same one as long as the list is the same. */
  seal(authorized: AuthorizedResourceRequest, token: ContinueToken): string {
    const binding = this.#bindingOf(authorized);
    const text = JSON.stringify(token);
    const key = `${this.#keys.version} ${binding} ${text}`;
    const known = this.#sealed.get(key);
    if (known !== undefined) return known;
    const sealed = this.#keys.seal(binding, text).toString('base64url');
    this.#sealed.set(key, sealed);
    return sealed;
  }

  /** Returns the context of a token: one purpose, kind, caller and range. */
  #bindingOf({ requestInfo, caller, owner }: AuthorizedResourceRequest): string {
    const { kind, namespace } = requestInfo;
    return `${this.#purpose} ${kind.storageName} ${owner ?? namespace ?? ''} ${callerKey(caller)}`;
  }
}

/** Returns the selectors and the order of a list, which its token is bound to. */
export const selectorFingerprint = (query: Query): string =>
  JSON.stringify(
    ['labelSelector', 'fieldSelector', 'orderBy'].map((parameter) => query.get(parameter) ?? ''),
  );

const callerKey = ({ type, user }: Caller): string =>
  user === undefined ? type : `${type === 'ClusterUser' ? 'm' : 'a'}:${user}`;
