import type { z } from 'zod';
import type { Keys } from '../security/keyring.js';
import type { Check, Entry, Write } from '../storage/storage.js';
import type { Caller } from './caller.js';
import type { DeleteOnlyFallback } from './delete-only-fallback.js';
import type { FieldTracker } from './field-tracker.js';
import type { Limits } from './limits/limit-settings.js';
import type { Limit, LimitOf } from './limits/rate-limit.js';
import type { KindObject, Metadata, PropagationPolicy } from './object.js';
import type { KindPresentation } from './presentation.js';
import type { Awaitable, Reader } from './reader.js';
import type { FieldNames, ServedVersion } from './served-version.js';
import type { Cause, DecisionSummary } from './status/status.js';

export type { Caller } from './caller.js';
export type {
  KindObject,
  ManagedFieldsEntry,
  Metadata,
  OwnerReference,
  PropagationPolicy,
} from './object.js';
export type { Column, OrderedField, SelectableField, UniqueField } from './presentation.js';
export type { Awaitable, Reader } from './reader.js';

/** An API group in one version, which its kinds share (docs/design/api.md#versions). */
export interface GroupVersion {
  /** The DNS name of the group. */
  readonly group: string;
  readonly version: string;
}

/** Verbs a kind may offer on its collection and objects (Kubernetes API conventions). */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection';

/** Facts about the request that strategies and actions may use. */
export interface RequestFacts {
  readonly auditID: string;
  /** The client's network: /32 of IPv4, /64 of IPv6. */
  readonly network: string;
  readonly userAgent: string;
  /** The Accept-Language header (RFC 9110 §12.5.4); empty without one. */
  readonly acceptLanguage: string;
  /** The time zone that a page says its browser has (header `Time-Zone`), as it came. */
  readonly timeZone?: string;
  /** Whether `Sec-Fetch-Site` or `Origin` came with it (docs/design/wire.md#who-is-a-browser). */
  readonly browser: boolean;
  /** The value of `Sec-Fetch-Site`, if it is a known one. */
  readonly site?: string;
}

/** A decision of the policy. */
export interface Decision extends DecisionSummary {
  /** True when the denying policy does not depend on the principal. */
  readonly appliesToEveryone?: true;
  /** Adds the record of this decision to the transaction that it permits, at each try. */
  recordIn?(tx: Transaction): Promise<void>;
}

/**
 * Checks and writes of another component that become part of a transaction: the library's records,
 * a projection, a decision.
 */
export interface StagedWrites {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  /** Replaces the writes when the store is out of space. */
  readonly deleteOnlyFallback?: DeleteOnlyFallback;
}

/**
 * What kinds need from other components; the kinds extend it by declaration merging, and what wires
 * the server provides it.
 */
export interface Ports {}

/** Settings of the deployment that kinds use; extended by declaration merging. */
export interface Settings {
  /** The name of the server as the manager of its own changes, in events and in its version. */
  readonly component: string;
  /** The origin all links, cookies and the issuer come from, without a trailing slash. */
  readonly baseURL: string;
  /** Multiplies every rate limit on requests and mails; 1 except under load tests. */
  readonly limitFactor: number;
  /** Every limit that an operator may set: milliseconds, bytes, counts (docs/design/limits.md). */
  readonly limits: Limits;
  /** The store's epoch. Records of an older epoch came back with a backup and are invalid. */
  readonly epoch: number;
}

/** What a strategy or an action may read and do in one request. */
export interface Call {
  /** Milliseconds since the epoch, the same during the whole call. */
  readonly now: number;
  readonly caller: Caller;
  readonly request: RequestFacts;
  readonly dryRun: boolean;
  readonly ports: Ports;
  readonly settings: Settings;
  readonly keys: Keys;
  /** The decision that permitted the request; the first commit records it. */
  readonly decision?: Decision;
  /**
   * Asks the policy about an action of the kind's own, such as a sign-up. `caller`, `at` (ms since the
   * epoch) and `entities` replace what the request has.
   */
  decide(action: string, facts: Record<string, unknown>): Promise<Decision>;
  /** Asks about a change; `Decision.recordIn` records it in the commit. */
  decideChange(action: string, facts: Record<string, unknown>): Promise<Decision>;
  /** Asks about what no one does yet: nothing is recorded. */
  decideQuietly(action: string, facts: Record<string, unknown>): Promise<Decision>;
  /** Sends the caller a warning beside the answer, in English (in Kubernetes, a Warning header). */
  warn(message: string): void;
  store<K extends AnyKind>(kind: K): Reader<ObjectOf<K>>;
  /** Counts one against a limit by client network, in a commit of its own; throws 429 above it. */
  spend(limit: Limit): Promise<void>;
  /** Takes back one count of this call. */
  refund(limit: Limit): void;
  /**
   * Gives one count of an earlier call, at `spentAt` (ms since the epoch), back to the store, whichever
   * replica counted it; without effect once its window is over.
   */
  giveBack(limit: Limit, spentAt: number): Promise<void>;
  /** Returns the used share of a limit's ceiling over all networks, from 0 to 1. */
  usedShare(limit: Limit): Promise<number>;
  /**
   * Runs `work` and commits it; runs it again after a conflict. With dryRun, nothing is committed.
   */
  change<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/**
 * An optimistic transaction: the commit checks everything that was read, and everything that is
 * written runs the strategy of its kind.
 *
 * @example
 * ```ts
 * await call.change(async (tx) => {
 *   const guests = await tx.get(Group, 'guests');
 *   await tx.update(Group, 'staff', ({ spec }) => {
 *     spec.members.push(...(guests?.spec.members ?? []));
 *   });
 *   await tx.delete(Group, 'guests');
 * });
 * ```
 */
export interface Transaction {
  get<K extends AnyKind>(kind: K, name: string): Promise<ObjectOf<K> | undefined>;
  byUnique<K extends AnyKind>(
    kind: K,
    field: string,
    value: string,
  ): Promise<ObjectOf<K> | undefined>;
  /**
   * Returns all objects of a kind, or those that `matches` accepts, at most about 90 in one commit; of
   * one owner or namespace if `part` names it. The commit checks that none of them has changed or is
   * gone, and that no object of the kind, or of the part, was written.
   */
  list<K extends AnyKind>(
    kind: K,
    matches?: (object: ObjectOf<K>) => boolean,
    part?: string,
  ): Promise<ObjectOf<K>[]>;
  /** Creates an object; the fields that `tracker` applies have an owner. */
  create<K extends AnyKind>(
    kind: K,
    object: Draft<ObjectOf<K>>,
    tracker?: FieldTracker,
  ): Promise<ObjectOf<K>>;
  /**
   * Changes an object; writes nothing if nothing changed. Throws 404 if it is absent. `tracker`
   * says who owns the changes; by default the service.
   */
  update<K extends AnyKind>(
    kind: K,
    name: string,
    change: (next: ObjectOf<K>) => Awaitable<void>,
    tracker?: FieldTracker,
  ): Promise<ObjectOf<K>>;
  /**
   * Deletes an object. One with finalizers stays, with deletionTimestamp, until the last one is removed.
   * Returns it as it was, or as it stays; undefined if it is absent.
   */
  delete<K extends AnyKind>(
    kind: K,
    name: string,
    propagationPolicy?: PropagationPolicy,
  ): Promise<ObjectOf<K> | undefined>;
  /** Removes an object at once, even if its kind deletes in steps, or it has finalizers. */
  erase(kind: AnyKind, name: string): Promise<void>;
  /** Adds an outbox row that `worker` runs after the commit; `until` in ms since the epoch. */
  enqueue(
    worker: string,
    payload: unknown,
    until: number,
    options?: { id?: string; notBefore?: number },
  ): Promise<void>;
  /** Counts one against a limit in this commit; throws 429 above it. */
  spend(limit: Limit, subject: string): Promise<void>;
  /** Adds checks and writes of another component. */
  add(part: StagedWrites): void;
  /** Runs `effect` after the commit; never on a dry run. */
  after(effect: () => void): void;
  /** Reads a raw key outside `objects/`; the commit checks it. */
  read(key: string): Promise<RawValue | undefined>;
  /** Writes a raw key; `decoded` is what `value` was encoded from and must not change any more. */
  write(key: string, value: Buffer, expires?: number, decoded?: object): void;
  remove(key: string): void;
}

/** The value of a raw key, and what it was encoded from if this process knows it. */
export type RawValue = Pick<Entry, 'value' | 'expires' | 'decoded'>;

/** An object to be created; the service fills in the rest of the metadata. */
export type Draft<O> =
  O extends KindObject<infer S, infer T, infer I>
    ? { metadata: Partial<Metadata>; spec: S; status?: T; internal?: I }
    : never;

/**
 * The hooks of a kind. All are optional and may run more than once; all but `beforeCommit` and
 * `beginDelete` are pure.
 *
 * @example
 * ```ts
 * const strategy: Strategy<ObjectOf<typeof Group>> = {
 *   validate({ metadata, spec }) {
 *     if (metadata.name !== 'staff' || spec.members.length > 0) return [];
 *     return [{ reason: 'FieldValueRequired', field: 'spec.members', message: 'Required value' }];
 *   },
 *   async beforeCommit(tx, next, old) {
 *     if (next === undefined) await tx.delete(Group, `${old!.metadata.name}-guests`);
 *   },
 * };
 * ```
 */
export interface Strategy<O> {
  /**
   * Sets defaults and normalizes; runs before validation by the schema. If it throws for a spec that
   * the schema refuses, the response is 422 with the faults of the schema.
   */
  default?(next: O, old: O | undefined, call: Call): Awaitable<void>;
  /** Validates what the schema cannot. */
  validate?(next: O, old: O | undefined, call: Call): Awaitable<Cause[]>;
  /** Computes or hides fields of status for this caller, from the object and the caller alone. */
  status?(object: O, call: Pick<Call, 'caller' | 'now'>): void;
  /** Adds to the transaction; without `next` the object is removed. */
  beforeCommit?(
    tx: Transaction,
    next: O | undefined,
    old: O | undefined,
    call: Call,
  ): Promise<void> | void;
  /** Completes the object in the response to a get or an action; not in lists and watches. */
  decorate?(object: O, call: Call): Promise<void>;
  /**
   * Starts a deletion in steps instead of removing the object. The response is the object as it
   * then is, or the return value if it was removed.
   */
  beginDelete?(tx: Transaction, old: O, call: Call): Promise<O | void>;
}

/** How a kind is named: what URLs, kubectl and both OpenAPI documents call it. */
interface KindNaming {
  /** Upper camel case, as in `kind` of an object. */
  kind: string;
  /** Lower-case plural: the segment of the path and of the keys in the store. */
  resource: string;
  /**
   * `Cluster` unless set. Of a namespaced kind, readers and transactions name an object
   * `<namespace>/<name>` (docs/design/kubernetes.md#namespaces).
   */
  scope?: 'Cluster' | 'Namespaced';
  /** The kind in lower case unless set; kubectl takes it, too. */
  singular?: string;
  shortNames?: readonly string[];
  /** Categories for kubectl; those of the group by default, never `all`. */
  categories?: readonly string[];
  /** The names of fields in other versions than that of the schemas (docs/design/versions.md). */
  names?: Readonly<Record<string, FieldNames>>;
  /** One sentence for both OpenAPI documents and the reference. */
  description: string;
}

/** Who may reach objects of a kind, how they come to be, and what their requests cost. */
interface KindAccess {
  /** A verb that is not listed is 405; the policy is not asked. */
  verbs: readonly Verb[];
  /**
   * Serves `<resource>/<name>/status` (get, patch, update), where controllers write status, as of a
   * custom resource. The schema of status then validates what they send.
   */
  hasStatusSubresource?: boolean;
  /**
   * The field with the name of the owner. An object is named `<owner>-<suffix>`, its owner lists that
   * range, rules may speak of it, and it goes with its owner; with `metadata.name` it owns itself.
   */
  owner?: 'metadata.name' | `spec.${string}` | `status.${string}`;
  /** Reports whether a caller holds the object, as a browser by its cookie; for others it is 404. */
  heldBy?: (caller: Caller, name: string) => boolean;
  /** Returns the name that `~` means for a caller: 401 without one, and 404 for kinds without this. */
  ownName?: (caller: Caller) => string | undefined;
  /** Other sites' pages may read it without credentials, if policy permits that. */
  isPublic?: boolean;
  /** The service generates the name; a create with a name is refused. */
  nameSource?: 'service';
  /** Replaces the plain create. */
  create?: CreateAction;
  /** The largest body in bytes; more is 413. */
  bodyLimit?: number;
  /** Limits updates and patches by client network, before the body is decoded; more are 429. */
  changeLimit?: LimitOf;
}

/** What objects of a kind consist of, and how they are kept. */
interface KindStorage<S, T, I, O> {
  /** What callers write: validated, pruned, tracked by field. */
  spec: S;
  /** What the service writes, or controllers at the status subresource; others read it. */
  status: T;
  /** What is stored and never shown. */
  internal?: I;
  /** Unique values: no two objects of the kind share one, and `byUnique` finds by it. */
  unique?: Record<string, (object: O) => string | readonly string[] | undefined>;
  /** Kept in the watch cache, because most requests read it; it costs its size in memory. */
  cached?: boolean;
  /**
   * What objects of the kind have in common. They are stored deflated with it (RFC 1951), so a change
   * makes those that are stored unreadable (docs/design/storage.md#objects-that-are-deflated).
   */
  dictionary?: Buffer;
  /** Milliseconds since the epoch after which the store may collect the object. */
  expires?: (object: O, limits: Limits) => number | undefined;
  strategy?: Strategy<O>;
}

/** The argument of a function that kindsOf returns: naming, access, storage and presentation. */
export interface KindDefinition<
  S extends z.ZodTypeAny,
  T extends z.ZodTypeAny,
  I extends z.ZodTypeAny,
  O = KindObject<z.infer<S>, z.infer<T>, z.infer<I>>,
> extends KindNaming,
    KindAccess,
    KindStorage<S, T, I, O>,
    KindPresentation<O> {}

/** An action that replaces a kind's create: POST on `<resource>`. */
export interface CreateAction {
  /** The schema of the spec in the request, if it differs from the kind's. */
  spec?: z.ZodTypeAny;
  /** Whether `dryRun` is supported; it is refused otherwise. */
  dryRun?: boolean;
  /** Limited by client network, before the body is decoded. */
  limit?: LimitOf;
  /** Runs the action and returns the created object. */
  run(call: Call, body: CreateActionBody): Promise<KindObject>;
}

/** The body of a create action, decoded and validated. */
export interface CreateActionBody {
  readonly spec: any;
  readonly metadata: Pick<Metadata, 'namespace' | 'labels' | 'annotations'>;
}

/** A kind: the source of its types, validation, documents, discovery and storage. */
export interface Kind<S = any, T = any, I = any>
  extends Readonly<KindDefinition<z.ZodTypeAny, z.ZodTypeAny, z.ZodTypeAny, any>> {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly scope: NonNullable<KindNaming['scope']>;
  /** What keys of the store call the kind: its resource, or `<resource>.<group>`. */
  readonly storageName: string;
  /** The versions in which it is served, the preferred one first. */
  readonly versions: readonly ServedVersion[];
  readonly names: NonNullable<KindNaming['names']>;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Whether its objects may have finalizers (docs/design/kubernetes.md#finalizers). */
  readonly allowsFinalizers: boolean;
  readonly unique: NonNullable<KindStorage<any, any, any, any>['unique']>;
  readonly selectableFields: NonNullable<KindPresentation<any>['selectableFields']>;
  readonly orders: NonNullable<KindPresentation<any>['orders']>;
  readonly strategy: Strategy<any>;
  /** Used by the type system only. */
  readonly $object?: KindObject<S, T, I>;
}

export type AnyKind = Kind<any, any, any>;
export type ObjectOf<K> = K extends Kind<infer S, infer T, infer I> ? KindObject<S, T, I> : never;
