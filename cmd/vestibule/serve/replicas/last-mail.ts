import type { MailOutcomes } from '../../../../mail/outcomes.js';
import { jsonValue } from '../../../../registry/schema/json-value.js';
import { dayMs } from '../../../../registry/schema/units.js';
import { lastMailKey } from '../../../../storage/snapshot/layout.js';
import type { Storage } from '../../../../storage/storage.js';

/** How old the stored time becomes before it is written again, in milliseconds. */
const renewMs = dayMs;

/** When the mail server last accepted a mail: from this process, or else from the store. */
export class LastMail {
  readonly #storage: Storage;
  readonly #server: string;
  readonly #outcomes: MailOutcomes;
  #stored: number | undefined;
  #isRead = false;

  /** `server` is the host of the mail server: what another one accepted does not count. */
  constructor(storage: Storage, server: string, outcomes: MailOutcomes) {
    this.#storage = storage;
    this.#server = server;
    this.#outcomes = outcomes;
  }

  /** Returns the time in ms since the epoch, and stores it once a day so that a restart knows it. */
  async time(): Promise<number | undefined> {
    if (!this.#isRead) await this.#read();
    const at = this.#outcomes.lastAcceptedAt;
    if (at === undefined) return this.#stored;
    if (at > (this.#stored ?? 0) + renewMs) {
      const value = Buffer.from(JSON.stringify({ server: this.#server, at }));
      await this.#storage.commit([], [{ put: lastMailKey, value }]);
      this.#stored = at;
    }
    return at;
  }

  async #read(): Promise<void> {
    const { entry } = await this.#storage.get(lastMailKey);
    this.#isRead = true;
    if (!entry) return;
    const { server, at } = jsonValue<{ server: string; at: number }>(entry);
    if (server === this.#server) this.#stored = at;
  }
}
