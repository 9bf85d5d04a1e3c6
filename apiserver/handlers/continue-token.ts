import type { Caller } from '../../registry/kind.js';
import type { Keys } from '../../security/keyring.js';
import { badRequest, invalid } from '../../registry/status.js';
import type { Revision } from '../../storage/storage.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { Query } from '../codec/query.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

/**
 * Where a list goes on: at revision `r` behind key `k`, with the selectors `q`; `n` follow, where
 * all of them were seen to be visible.
 */
export interface ContinueToken {
  r: Revision;
  k: string;
  q: string;
  n?: number;
}

/** Seals and opens what `continue` says. */
export class ContinueTokens {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** The token that a query brings; throws where it is not good for it. */
  open(authorized: AuthorizedRequest, query: Query): ContinueToken | undefined {
    const text = query.get('continue') || undefined;
    if (text === undefined) return undefined;
    if (query.has('resourceVersionMatch'))
      throw invalid(
        { ...(authorized.requestInfo as ResourceRequestInfo).kind, kind: 'ListOptions' },
        '',
        [
          {
            reason: 'FieldValueForbidden',
            field: 'resourceVersionMatch',
            message: 'Forbidden: not with continue',
          },
        ],
      );
    if (!['', '0', undefined].includes(query.get('resourceVersion')))
      throw badRequest('specifying resource version is not allowed when using continue');
    try {
      const sealed = Buffer.from(text, 'base64url');
      const token = JSON.parse(
        this.#keys.open(bindingOf(authorized), sealed).toString(),
      ) as ContinueToken;
      if (token.q === fingerprint(query) && sealed.toString('base64url') === text) return token;
    } catch {
      /* told below, whatever was wrong with it */
    }
    throw badRequest('continue key is not valid');
  }

  seal(authorized: AuthorizedRequest, token: ContinueToken): string {
    return this.#keys.seal(bindingOf(authorized), JSON.stringify(token)).toString('base64url');
  }
}

/** What a token is bound to besides: the selectors of its list. */
export const fingerprint = (query: Query): string =>
  JSON.stringify([query.get('labelSelector') ?? '', query.get('fieldSelector') ?? '']);

/** A token is good for one resource, one caller, one range. */
const bindingOf = ({ requestInfo, caller, owner }: AuthorizedRequest): string =>
  `continue ${(requestInfo as ResourceRequestInfo).kind.resource} ${owner ?? ''} ${holderOf(caller)}`;

function holderOf(caller: Caller): string {
  if (caller.type === 'Account') return `a:${caller.account}`;
  return caller.type === 'ClusterUser' ? `m:${caller.user}` : caller.type;
}
