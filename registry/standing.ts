import { isDeepStrictEqual } from 'node:util';
import type { Check } from '../storage/storage.js';
import type { Caller } from './caller.js';
import type { Awaitable } from './kind.js';
import { StatusError } from './status.js';

/** Authenticates the caller of a request again. */
export type Reauthenticate = () => Awaitable<Caller>;

/**
 * The rights of the caller of one request: each commit checks the objects that they come from, so
 * that of two callers who take each other's rights only one succeeds
 * (docs/design/policy.md#rights-at-the-commit).
 */
export class Standing {
  readonly #rights: object;
  readonly #reauthenticate: Reauthenticate;
  #checks: readonly Check[];

  constructor(caller: Caller, reauthenticate: Reauthenticate) {
    this.#rights = rightsOf(caller);
    this.#checks = checksOf(caller);
    this.#reauthenticate = reauthenticate;
  }

  /** What a commit checks. */
  get checks(): readonly Check[] {
    return this.#checks;
  }

  /** Reads the rights again, after a commit was lost. Throws 409 if they are others now. */
  async renew(): Promise<void> {
    if (this.#checks.length === 0) return;
    const caller = await this.#reauthenticate();
    if (!isDeepStrictEqual(rightsOf(caller), this.#rights))
      throw new StatusError(
        'Conflict',
        'the groups or the account of the caller changed during the request; try again',
      );
    this.#checks = checksOf(caller);
  }
}

const checksOf = (caller: Caller): readonly Check[] =>
  caller.type === 'Account' ? (caller.standing ?? []) : [];

/** What permissions of a person depend on beside the sign-in; everything else may change. */
function rightsOf(caller: Caller): object {
  if (caller.type !== 'Account') return caller;
  const { account, email, groups, operator } = caller;
  return { account, email, groups, operator };
}
