import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../../kinds/index.js';
import { Records, recordKey, uidKey } from '../../provider/context/records.js';
import { sessionName } from '../../provider/context/session-name.js';
import { EncodedObject, uniqueKey } from '../../registry/encoded-object.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import { digest, Keys } from '../../security/keyring.js';
import type { Entry, Storage } from '../../storage/storage.js';

/** Everything a stopped service left behind, by key. */
export async function everythingIn(
  open: () => Promise<Storage>,
): Promise<ReadonlyMap<string, Entry>> {
  const storage = await open();
  const { entries } = await storage.list({ start: '!', end: '~' });
  await storage.close();
  return new Map(entries.map((entry) => [entry.key, entry]));
}

/** The objects of one kind. */
export function objectsOf(entries: ReadonlyMap<string, Entry>, resource: string): KindObject[] {
  const kind = kinds.find((kind) => kind.resource === resource)!;
  return [...entries.values()]
    .filter(({ key }) => key.startsWith(`objects/${resource}/`))
    .map((entry) => new EncodedObject(kind, entry).object);
}

/** Records that stand without their other half; each a sentence. */
export function halves(directory: string, entries: ReadonlyMap<string, Entry>): string[] {
  return [
    ...kinds.flatMap((kind) => uniqueFaults(kind, entries)),
    ...owned(entries),
    ...sessions(directory, entries),
    ...granted(entries),
  ];
}

/** Every unique value is claimed by the object that has it, and every claim is someone's. */
function uniqueFaults(kind: AnyKind, entries: ReadonlyMap<string, Entry>): string[] {
  const claimed = new Map<string, string>();
  for (const object of objectsOf(entries, kind.resource)) {
    for (const [field, of] of Object.entries(kind.unique)) {
      for (const value of [of(object) ?? []].flat()) {
        claimed.set(uniqueKey(kind, field, value), object.metadata.name);
      }
    }
  }
  const missing = [...claimed]
    .filter(([key, name]) => entries.get(key)?.value.toString() !== name)
    .map(([key, name]) => `${kind.kind} ${name} has no claim ${key}`);
  const idle = [...entries.keys()]
    .filter((key) => key.startsWith(`unique/${kind.resource}/`) && !claimed.has(key))
    .map((key) => `${key} belongs to no object`);
  return [...missing, ...idle];
}

/** What an account owns goes with it. */
const owned = (entries: ReadonlyMap<string, Entry>): string[] =>
  ['sessions', 'grants'].flatMap((resource) =>
    objectsOf(entries, resource)
      .filter(({ metadata }) => !entries.has(`objects/accounts/${metadata.name.split('-')[0]}`))
      .map(({ metadata }) => `${resource}/${metadata.name} has no Account`),
  );

/** The library's session of someone, its index and our projection stand and fall together. */
function sessions(directory: string, entries: ReadonlyMap<string, Entry>): string[] {
  const records = new Records(
    new Keys(JSON.parse(readFileSync(join(directory, 'keys.json'), 'utf8'))),
    0,
  );
  const faults: string[] = [];
  const known = new Set<string>();
  for (const { key, value } of entries.values()) {
    if (!key.startsWith('oidc/Session/')) continue;
    const payload = records.open(key, 'Session', value)!;
    if (recordKey('Session', payload.jti!) !== key) faults.push(`${key} is another session's`);
    if (entries.get(uidKey(payload.uid!))?.value.toString() !== digest(payload.jti!)) {
      faults.push(`${key} has no index`);
    }
    if (!payload.accountId) continue;
    const name = sessionName(payload.accountId, payload.uid!);
    known.add(name);
    if (!entries.has(`objects/sessions/${name}`)) faults.push(`${key} has no Session`);
  }
  for (const { metadata, internal } of objectsOf(entries, 'sessions')) {
    if (!known.has(metadata.name)) faults.push(`Session ${metadata.name} has no library session`);
    if (!entries.has((internal as { recordKey: string }).recordKey)) {
      faults.push(`Session ${metadata.name} names a library session that is gone`);
    }
  }
  return faults;
}

/** A copy of a Grant is listed under it, and the remembered decision it was made from stands. */
function granted(entries: ReadonlyMap<string, Entry>): string[] {
  const listed = new Map(
    [...entries.keys()]
      .filter((key) => key.startsWith('oidc/copy/'))
      .map((key) => [key.split('/')[3]!, key.split('/')[2]!]),
  );
  return [...entries.keys()]
    .filter((key) => key.startsWith('oidc/Grant/'))
    .flatMap((key) => {
      const grant = listed.get(key.split('/')[2]!);
      if (grant === undefined) return [`${key} is listed nowhere`];
      return entries.has(`objects/grants/${grant}`)
        ? []
        : [`${key} is a copy of a Grant that is gone`];
    });
}
