import type { EncodedObject } from '../../../registry/encoded-object.js';
import type { ObjectOf } from '../../../registry/kind.js';
import type { Store } from '../../../registry/store/store.js';
import type { WatchCacheEvent } from '../../../registry/watchcache/event.js';
import type { Subscription } from '../../../registry/watchcache/watch-cache.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { Account } from '../account/account.js';
import { Passkey } from '../passkey/passkey.js';
import { operators } from './group.js';
import type { Memberships } from './membership-index.js';

/** Whether any operator has a passkey, and whether one has full strength. */
export interface OperatorPasskeyFacts {
  readonly operatorsHavePasskeys: boolean;
  readonly operatorsHaveFullPasskeys: boolean;
}

/**
 * The cached state: the version of the groups, the operators' addresses, and when (ms since the
 * epoch) the first of their passkeys reaches full strength.
 */
interface CachedState {
  readonly groups: number;
  readonly addresses: ReadonlySet<string>;
  readonly hasAny: boolean;
  readonly fullFrom: number;
}

/**
 * Caches whether operators have passkeys. Reads again after a change of an operator's account or of
 * a Group.
 */
export class OperatorPasskeys {
  readonly #store: Store;
  readonly #groups: Memberships;
  #cached: CachedState | undefined;
  #reading: Promise<CachedState> | undefined;
  #changes = 0;
  #subscription: Subscription | undefined;

  constructor(store: Store, groups: Memberships) {
    this.#store = store;
    this.#groups = groups;
  }

  /** Starts following accounts; call it after the watch cache has started. */
  start(): void {
    const { watchCache } = this.#store;
    this.#subscription = watchCache.subscribe(Account.resource, watchCache.revision, {
      event: (event) => this.#handleEvent(event),
      gap: () => this.#invalidate(),
    });
  }

  /** Stops following; call it before the watch cache stops. */
  stop(): void {
    this.#subscription?.leave();
  }

  /** Returns the current facts; reads the store only after a change. */
  async currentFacts(): Promise<OperatorPasskeyFacts> {
    if (!this.#subscription?.isFresh()) await this.#subscription?.settle();
    if (!this.#subscription?.isFresh()) return factsOf(await this.#read());
    return factsOf(
      this.#cached?.groups === this.#groups.version
        ? this.#cached
        : await (this.#reading ??= this.#readAndCache()),
    );
  }

  /** Reads the state and caches it unless something changed during the read. */
  async #readAndCache(): Promise<CachedState> {
    const before = this.#changes;
    try {
      const read = await this.#read();
      if (before === this.#changes) this.#cached = read;
      return read;
    } finally {
      this.#reading = undefined;
    }
  }

  async #read(): Promise<CachedState> {
    const groups = this.#groups.version;
    const addresses = new Set(
      (await this.#groups.members(operators)).map(({ address }) => address),
    );
    const accounts = await Promise.all(
      [...addresses].map((address) => this.#store.reader(Account).byUnique('email', address)),
    );
    const accountsWithPasskeys = accounts.filter(
      (account) =>
        account !== undefined &&
        account.status.passkeys > 0 &&
        !account.status.disabledTimestamp &&
        !account.metadata.deletionTimestamp,
    );
    const passkeys = (
      await Promise.all(
        accountsWithPasskeys.map((account) =>
          this.#store.reader(Passkey).list(account!.metadata.name),
        ),
      )
    ).flat();
    const from = passkeys.map(({ status }) => Date.parse(status.fullStrengthTimestamp));
    return {
      groups,
      addresses,
      hasAny: passkeys.length > 0,
      fullFrom: Math.min(Infinity, ...from),
    };
  }

  #handleEvent({ before, after }: WatchCacheEvent): void {
    const concerns = (stored: EncodedObject | undefined): boolean => {
      const address = stored && addressOf(stored);
      return address !== undefined && (this.#cached?.addresses.has(address) ?? true);
    };
    if (concerns(before) || concerns(after)) this.#invalidate();
  }

  #invalidate(): void {
    this.#changes += 1;
    this.#cached = undefined;
    this.#reading = undefined;
  }
}

const factsOf = ({ hasAny, fullFrom }: CachedState): OperatorPasskeyFacts => ({
  operatorsHavePasskeys: hasAny,
  operatorsHaveFullPasskeys: fullFrom <= Date.now(),
});

/** Returns undefined for an object that cannot be decoded; requests for it report the error. */
function addressOf(stored: EncodedObject): string | undefined {
  try {
    return canonicalAddress((stored.object as ObjectOf<typeof Account>).status.email.address);
  } catch {
    return undefined;
  }
}
