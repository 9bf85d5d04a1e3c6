import { isDeepStrictEqual } from 'node:util';
import type { Keys } from '../../security/keyring.js';
import { clone } from '../encoded-object.js';
import type { TrackedWrite } from '../field-tracker.js';
import type { AnyKind, KindObject } from '../kind.js';
import { lastAppliedAnnotation } from '../managedfields/apply.js';
import { isRecord } from '../schema/is-record.js';
import type { FieldPath, SecretField } from '../schema/secret-schema.js';
import { parseJSON } from '../schema/strict-json.js';
import { viewsOf } from '../versions/kind-view.js';

/** The part of `internal` that holds secrets, by the path of the field. */
interface SecretHolder {
  secrets?: Record<string, string>;
}

const none: ReadonlySet<string> = new Set();

/**
 * Moves the secrets of `next.spec` to `next.internal`, and removes them where kubectl keeps a copy.
 * A secret that is sent again stays as it is, but under the newest key. Returns those that changed.
 */
export function takeSecrets(
  fields: readonly SecretField[],
  next: KindObject,
  old: KindObject | undefined,
  { kind, keys }: { readonly kind: AnyKind; readonly keys: Keys },
): ReadonlySet<string> {
  if (fields.length === 0) return none;
  const before = old ? secretsOf(old) : {};
  // The object may have been changed in this transaction already.
  const current = (next.internal as SecretHolder | undefined)?.secrets ?? before;
  const after = { ...current };
  const changed = new Set<string>();
  for (const field of fields) {
    const place = { kind: kind.kind, name: field.path.join('.'), keys };
    const [name, kept] = [place.name, current[place.name]];
    const isOver = valueAt(next.spec, field.path.slice(0, -1)) === undefined;
    const value = takeOut(next.spec, field.path) as string | undefined;
    const isKept = value === undefined ? !isOver : isSame(field, place, kept, value);
    if (value === '' || isOver) {
      delete after[name];
    } else if (value !== undefined && !(isKept && isOfNewestKey(field, place, kept!, value))) {
      after[name] = keep(field, place, value);
    }
    if (!isKept || kept !== before[name]) changed.add(name);
  }
  alignLastApplied(
    kind,
    next,
    fields.map(({ path }) => path),
  );
  next.internal = { ...(next.internal as object), secrets: after };
  return changed;
}

/**
 * Returns a write as owners of fields see it: with a mark in place of each secret, which is another one
 * if the secret `changed`.
 */
export function withSecretMarks(
  fields: readonly SecretField[],
  write: TrackedWrite,
  changed: ReadonlySet<string>,
): TrackedWrite {
  if (fields.length === 0) return write;
  const marked = (object: KindObject, isChanged: (name: string) => boolean): KindObject => {
    const spec = clone(object.spec);
    for (const { path } of fields) {
      const name = path.join('.');
      if (hasSecret(object, name)) setAt(spec, path, isChanged(name) ? 'changed' : 'kept');
    }
    return { ...object, spec };
  };
  return {
    ...write,
    next: marked(write.next, (name) => changed.has(name)),
    old: write.old && marked(write.old, () => false),
  };
}

/** A secret of an object, by its path below `spec` with dots, such as `mail.password`. */
export interface StoredSecret {
  readonly of: Pick<AnyKind, 'kind'>;
  readonly object: KindObject;
  readonly field: string;
}

/**
 * Opens a sealed secret; undefined if none was set. Throws if the key that sealed it is not in the
 * keys file any more.
 */
export function openSecret(
  { of: { kind }, object, field }: StoredSecret,
  keys: Keys,
): string | undefined {
  const sealed = secretsOf(object)[field];
  return sealed === undefined
    ? undefined
    : keys.open(contextOf(kind, field), Buffer.from(sealed, 'base64url')).toString();
}

/** Returns whether `presented` is a hashed secret, in constant time; false if none was set. */
export function secretMatches(
  { of: { kind }, object, field }: StoredSecret,
  presented: string,
  keys: Keys,
): boolean {
  const hash = secretsOf(object)[field];
  const mac = Buffer.from(hash ?? '', 'base64url');
  return hash !== undefined && keys.macMatches(contextOf(kind, field), presented, mac);
}

/** Returns whether a secret was set. */
export const hasSecret = (object: KindObject, field: string): boolean =>
  secretsOf(object)[field] !== undefined;

/**
 * Makes the copy of a configuration that `kubectl apply` keeps in an annotation say of these fields
 * what the object says, and nothing of those that it does not show.
 */
export function alignLastApplied(
  kind: AnyKind,
  { metadata, spec }: KindObject,
  fields: readonly FieldPath[],
): void {
  const text = metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return;
  const applied = parseObject(text);
  const view = viewsOf(kind).find(({ apiVersion }) => apiVersion === applied?.apiVersion);
  // What cannot be read may hold anything.
  if (!applied || !view) return void delete metadata.annotations![lastAppliedAnnotation];
  const names = view.names?.at('spec');
  const appliedSpec = names ? names.toHub(applied.spec, true) : applied.spec;
  if (!isRecord(appliedSpec)) return;
  let isChanged = false;
  for (const path of fields) {
    const shown = valueAt(spec, path);
    const kept = valueAt(appliedSpec, path);
    if (kept === undefined || isDeepStrictEqual(kept, shown)) continue;
    takeOut(appliedSpec, path);
    if (shown !== undefined) setAt(appliedSpec, path, shown);
    isChanged = true;
  }
  if (!isChanged) return;
  applied.spec = names ? names.fromHub(appliedSpec, true) : appliedSpec;
  metadata.annotations![lastAppliedAnnotation] = `${JSON.stringify(applied)}\n`;
}

/** Where a secret is stored: it opens nowhere else. */
interface Place {
  readonly kind: string;
  readonly name: string;
  readonly keys: Keys;
}

const contextOf = (kind: string, field: string): string => `secret ${kind} ${field}`;

const secretsOf = ({ internal }: KindObject): Record<string, string> =>
  (internal as SecretHolder | undefined)?.secrets ?? {};

function keep({ storage }: SecretField, { kind, name, keys }: Place, value: string): string {
  const context = contextOf(kind, name);
  const kept = storage === 'Hashed' ? keys.mac(context, value) : keys.seal(context, value);
  return kept.toString('base64url');
}

/** A secret that is sent again is not a change: an apply sends it each time. */
function isSame(
  { storage }: SecretField,
  { kind, name, keys }: Place,
  stored: string | undefined,
  value: string,
): boolean {
  if (stored === undefined) return value === '';
  const bytes = Buffer.from(stored, 'base64url');
  const context = contextOf(kind, name);
  if (storage === 'Hashed') return keys.macMatches(context, value, bytes);
  return keys.opens(bytes) && keys.open(context, bytes).equals(Buffer.from(value));
}

/** Returns whether a secret of this value would be kept by the same key now. */
function isOfNewestKey(
  { storage }: SecretField,
  { kind, name, keys }: Place,
  stored: string,
  value: string,
): boolean {
  const bytes = Buffer.from(stored, 'base64url');
  return storage === 'Hashed'
    ? keys.mac(contextOf(kind, name), value).equals(bytes)
    : keys.isSealedByNewest(bytes);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = parseJSON(Buffer.from(text)); // Refuses members that others hide.
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>(
    (at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
}

/** Removes the value at a path and returns it. */
function takeOut(value: unknown, path: FieldPath): unknown {
  const parent = valueAt(value, path.slice(0, -1));
  const name = path.at(-1)!;
  if (!isRecord(parent) || !Object.hasOwn(parent, name)) return undefined;
  const taken = parent[name];
  delete parent[name];
  return taken;
}

function setAt(value: unknown, path: FieldPath, set: unknown): void {
  const parent = valueAt(value, path.slice(0, -1));
  if (isRecord(parent)) parent[path.at(-1)!] = set;
}
