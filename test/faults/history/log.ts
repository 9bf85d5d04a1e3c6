import { Etcd3, type Watcher } from 'etcd3';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import type { Change } from './history.js';
import { keys } from './recorder.js';

const place = 'objects/groups/';
/** What the etcd driver puts before a value. */
const heading = 20;

interface Wire {
  readonly metadata: { readonly uid: string; readonly labels?: { readonly shard?: string } };
  readonly spec: { readonly displayName: string };
}

/** One change from what stood before and after it, as the store frames objects. */
function changeOf(
  key: string,
  revision: number,
  after: Buffer | undefined,
  before: Buffer | undefined,
): Change {
  const wire = (framed: Buffer): Wire =>
    JSON.parse(framed.toString('utf8', 4, 4 + framed.readUInt32BE(0))) as Wire;
  const { metadata, spec } = wire((after ?? before)!);
  return {
    revision,
    key,
    uid: metadata.uid,
    ...(after && {
      value: spec.displayName,
      ...(metadata.labels?.shard && { label: metadata.labels.shard }),
    }),
  };
}

/**
 * What etcd itself has to tell of the objects, by its own client: none of the driver's code is
 * asked. It is followed from the beginning, so that history may be compacted; where it was
 * compacted away before it arrived, the test is at fault and says so.
 */
export class Tail {
  readonly #changes: Change[] = [];
  readonly #stands = new Map<string, string>();
  readonly #client: Etcd3;
  readonly #watcher: Watcher;
  #at = 0;
  #failure: Error | undefined;

  private constructor(client: Etcd3, watcher: Watcher) {
    [this.#client, this.#watcher] = [client, watcher];
    watcher
      .on('data', ({ header, events }) => {
        for (const { type, kv } of events) this.#take(type, kv);
        this.#at = Math.max(this.#at, Number(header.revision));
      })
      .on('error', (error) => {
        this.#failure = error;
      });
  }

  /** From now on, over whichever of these members is there. */
  static async begin(endpoints: readonly string[]): Promise<Tail> {
    const client = new Etcd3({ hosts: [...endpoints] });
    return new Tail(client, await client.watch().prefix(`/vestibule/${place}`).create());
  }

  /** Everything after `from`, up to `to`, once that has come. */
  async between(from: number, to: number): Promise<Change[]> {
    for (const end = performance.now() + 20_000; this.#at < to && performance.now() < end; ) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    if (this.#failure || this.#at < to) {
      throw this.#failure ?? new Error(`the log has arrived up to ${this.#at} of ${to}`);
    }
    return this.#changes.filter(({ revision }) => revision > from && revision <= to);
  }

  async end(): Promise<void> {
    await this.#watcher.cancel().catch(() => undefined);
    this.#client.close();
  }

  #take(type: string, kv: { key: Buffer; value: Buffer; mod_revision: string }): void {
    const key = kv.key.toString().slice(`/vestibule/${place}`.length);
    if (!keys.includes(key)) return;
    const revision = Number(kv.mod_revision);
    if (type === 'Put') {
      const change = changeOf(key, revision, kv.value.subarray(heading), undefined);
      this.#stands.set(key, change.uid);
      this.#changes.push(change);
    } else {
      this.#changes.push({ revision, key, uid: this.#stands.get(key)! });
    }
  }
}

/** What the log of a stopped embedded store has to tell, as it stands on the disk. */
export async function logOfEmbedded(
  directory: string,
  from: number,
  to: number,
): Promise<Change[]> {
  const storage = await openEmbedded({ directory });
  const changes: Change[] = [];
  try {
    for await (const batch of storage.watch(place, from, new AbortController().signal)) {
      for (const { key, entry, before } of batch.changes) {
        const name = key.slice(place.length);
        if (keys.includes(name)) {
          changes.push(changeOf(name, batch.revision, entry?.value, before?.value));
        }
      }
      if (batch.revision >= to) break;
    }
  } finally {
    await storage.close();
  }
  return changes;
}
