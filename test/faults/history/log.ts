import { Etcd3 } from 'etcd3';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import type { Change } from './history.js';
import { keys } from './recorder.js';

const place = 'objects/groups/';
/** What the etcd driver puts before a value. */
const heading = 20;

interface Wire { readonly metadata: { readonly uid: string; readonly labels?: { readonly shard?: string } }; readonly spec: { readonly displayName: string } }

/** One change from what stood before and after it, as the store frames objects. */
function changeOf(key: string, revision: number, after: Buffer | undefined, before: Buffer | undefined): Change {
  const wire = (framed: Buffer): Wire => JSON.parse(framed.toString('utf8', 4, 4 + framed.readUInt32BE(0))) as Wire;
  const { metadata, spec } = wire((after ?? before)!);
  return { revision, key, uid: metadata.uid, ...(after && { value: spec.displayName, ...(metadata.labels?.shard && { label: metadata.labels.shard }) }) };
}

/** What etcd itself has to tell of the objects from `from` to `to`, by its own client: none of the driver's code is asked. */
export async function logOfEtcd(endpoint: string, from: number, to: number): Promise<Change[]> {
  const client = new Etcd3({ hosts: endpoint });
  const prefix = `/vestibule/${place}`;
  const changes: Change[] = [];
  const watcher = await client.watch().prefix(prefix).startRevision(String(from + 1)).withPreviousKV().create();
  try {
    await new Promise<void>((resolve, reject) => {
      watcher.on('error', reject).on('data', ({ events }) => {
        for (const { type, kv, prev_kv } of events) {
          const key = kv.key.toString().slice(prefix.length);
          if (keys.includes(key)) changes.push(changeOf(key, Number(kv.mod_revision), type === 'Put' ? kv.value.subarray(heading) : undefined, prev_kv?.value.subarray(heading)));
          if (Number(kv.mod_revision) >= to) resolve();
        }
      });
    });
  } finally {
    await watcher.cancel();
    client.close();
  }
  return changes;
}

/** What the log of a stopped embedded store has to tell, as it stands on the disk. */
export async function logOfEmbedded(directory: string, from: number, to: number): Promise<Change[]> {
  const storage = await openEmbedded({ directory });
  const changes: Change[] = [];
  try {
    for await (const batch of storage.watch(place, from, new AbortController().signal)) {
      for (const { key, entry, before } of batch.changes) {
        const name = key.slice(place.length);
        if (keys.includes(name)) changes.push(changeOf(name, batch.revision, entry?.value, before?.value));
      }
      if (batch.revision >= to) break;
    }
  } finally {
    await storage.close();
  }
  return changes;
}
