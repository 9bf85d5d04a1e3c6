import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import type { Delivery } from './delivery.js';

/** Records by key; a write resolves when it is flushed to disk. */
export type Records = RootDatabase<any, string>;

/** Opens the records in a folder. */
export const openRecords = (folder: string): Records =>
  open<any, string>({
    path: join(folder, 'peer.mdb'),
    noSubdir: true,
    overlappingSync: false,
    eventTurnBatching: false,
    cache: false,
  });

interface Challenge {
  readonly email: string;
  readonly hash: Buffer;
  readonly tries: number;
  readonly expires: number;
}

/** Codes sent by mail, as the service keeps them: hashed, with few tries, usable once. */
export class EmailCodes {
  readonly #records: Records;
  readonly #delivery: Delivery;

  constructor(records: Records, delivery: Delivery) {
    this.#records = records;
    this.#delivery = delivery;
  }

  /** Makes a code and sends it; a stored message stands until it is sent. */
  async send(name: string, email: string): Promise<void> {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const [challenge, outbox] = [`code/${name}`, `outbox/${name}`];
    const expires = Date.now() + 600_000;
    await this.#records.batch(() => {
      void this.#records.put(challenge, { email, hash: this.#hash(code), tries: 5, expires });
      void this.#records.put(outbox, { email, code });
    });
    this.#delivery.send(email, code);
    void this.#records.remove(outbox);
  }

  /** Spends a try, durably; returns the address if the code is right, which is then used up. */
  redeem(name: string, code: string): Promise<string | undefined> {
    const key = `code/${name}`;
    return this.#records.transaction(() => {
      const challenge = this.#records.get(key) as Challenge | undefined;
      if (!challenge || challenge.expires < Date.now() || challenge.tries === 0) return undefined;
      if (timingSafeEqual(challenge.hash, this.#hash(code))) {
        void this.#records.remove(key);
        return challenge.email;
      }
      void this.#records.put(key, { ...challenge, tries: challenge.tries - 1 });
      return undefined;
    });
  }

  #hash(code: string): Buffer {
    return createHmac('sha256', 'a key of the bench').update(code).digest();
  }
}

/** The account of an address, made when it is first seen. */
export async function accountOf(records: Records, email: string): Promise<string> {
  const known = records.get(`account/${email}`) as string | undefined;
  if (known !== undefined) return known;
  const name = randomBytes(10).toString('hex');
  await records.batch(() => {
    void records.put(`account/${email}`, name);
    void records.put(`email/${name}`, email);
  });
  return name;
}
