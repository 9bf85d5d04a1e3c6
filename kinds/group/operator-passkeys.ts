import type { WatchCacheEvent } from '../../registry/watchcache/event.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import type { ObjectOf } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import { Account } from '../account/account.js';
import { canonical } from '../signin/email-address.js';
import { operators } from './group.js';
import type { Memberships } from './membership-index.js';
import { Passkey } from '../passkey/passkey.js';

/** Whether any operator has a passkey, and whether one of them counts in full. */
export interface OperatorsHave {
  readonly operatorsHavePasskeys: boolean;
  readonly operatorsHaveFullPasskeys: boolean;
}

/**
 * What is known of the operators: their addresses, as of one state of the groups, and from when
 * (ms) the first of their passkeys counts in full.
 */
interface Known {
  readonly groups: number;
  readonly addresses: ReadonlySet<string>;
  readonly hasAny: boolean;
  readonly fullFrom: number;
}

/** How long to wait for what this replica wrote to come back, in milliseconds. */
const patience = 1_000;

/**
 * Whether operators have passkeys: read once, and again after a change of one of their accounts or
 * of a Group, so that no request looks for them.
 */
export class OperatorPasskeys {
  readonly #store: Store;
  readonly #groups: Memberships;
  #known: Known | undefined;
  #reading: Promise<Known> | undefined;
  #changes = 0;
  #subscription: Subscription | undefined;

  constructor(store: Store, groups: Memberships) {
    this.#store = store;
    this.#groups = groups;
  }

  /** Follows accounts from here on; after the watch cache has begun. */
  start(): void {
    this.#forget();
    this.#subscription = this.#store.watchCache.subscribe(
      Account.resource,
      this.#store.watchCache.revision,
      {
        event: (event) => this.#take(event),
        end: (why) => {
          if (why === 'Compacted') this.start();
        },
      },
    );
  }

  /** Follows nothing any more; before the watch cache stops. */
  stop(): void {
    this.#subscription?.leave();
  }

  /** What is known without waiting; undefined where it cannot be relied on now. */
  held(): OperatorsHave | undefined {
    return this.#known && this.#isFresh && this.#known.groups === this.#groups.version
      ? said(this.#known)
      : undefined;
  }

  /** The same, reading where it must. */
  async of(): Promise<OperatorsHave> {
    const { watchCache } = this.#store;
    if (!this.#isFresh && this.#subscription)
      await watchCache.waitUntil(watchCache.lastCommitTo(Account.resource), patience);
    return (
      this.held() ?? said(await (this.#isFresh ? (this.#reading ??= this.#keep()) : this.#read()))
    );
  }

  get #isFresh(): boolean {
    const { watchCache } = this.#store;
    return (
      this.#subscription !== undefined &&
      watchCache.isFresh(Account.resource) &&
      this.#subscription.position() >= watchCache.revision
    );
  }

  /** Reads, and keeps what was read unless something has changed meanwhile. */
  async #keep(): Promise<Known> {
    const before = this.#changes;
    try {
      const read = await this.#read();
      if (before === this.#changes) this.#known = read;
      return read;
    } finally {
      this.#reading = undefined;
    }
  }

  async #read(): Promise<Known> {
    const groups = this.#groups.version;
    const addresses = new Set(
      (await this.#groups.members(operators)).map(({ address }) => address),
    );
    const accounts = await Promise.all(
      [...addresses].map((address) => this.#store.reader(Account).byUnique('email', address)),
    );
    const having = accounts.filter(
      (account) =>
        account !== undefined &&
        account.status.passkeys > 0 &&
        !account.status.disabledTimestamp &&
        !account.metadata.deletionTimestamp,
    );
    const passkeys = (
      await Promise.all(
        having.map((account) => this.#store.reader(Passkey).list(account!.metadata.name)),
      )
    ).flat();
    const from = passkeys.map(({ status }) =>
      status.fullStrengthTimestamp === undefined ? 0 : Date.parse(status.fullStrengthTimestamp),
    );
    return {
      groups,
      addresses,
      hasAny: passkeys.length > 0,
      fullFrom: Math.min(Infinity, ...from),
    };
  }

  #take({ before, after }: WatchCacheEvent): void {
    const concerns = (stored: EncodedObject | undefined): boolean => {
      const address = stored && addressOf(stored);
      return address !== undefined && (this.#known?.addresses.has(address) ?? true);
    };
    if (concerns(before) || concerns(after)) this.#forget();
  }

  #forget(): void {
    this.#changes += 1;
    this.#known = undefined;
    this.#reading = undefined;
  }
}

const said = ({ hasAny, fullFrom }: Known): OperatorsHave => ({
  operatorsHavePasskeys: hasAny,
  operatorsHaveFullPasskeys: fullFrom <= Date.now(),
});

/** Undefined where an object cannot be read: anyone who asks for it is told so. */
function addressOf(stored: EncodedObject): string | undefined {
  try {
    return canonical((stored.object as ObjectOf<typeof Account>).status.email.address);
  } catch {
    return undefined;
  }
}
