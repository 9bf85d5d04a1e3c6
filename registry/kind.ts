import type { z } from 'zod';
import type { Check, Write } from '../storage/storage.js';
import type { DeleteOnlyFallback } from './delete-only-fallback.js';
import type { Caller } from './caller.js';
import type { Keys } from '../security/keyring.js';
import type { Limits } from './limit-settings.js';
import type { Limit, LimitOf } from './rate-limit.js';
import type { Cause, DecisionSummary } from './status.js';

export type { AccountCaller, Caller } from './caller.js';

/** The API group and version of every kind (docs/design/api.md#versions). */
export const group = 'id.vestibule.org';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

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

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

/**
 * metadata of every object (docs/design/kubernetes.md#metadata). `resourceVersion` is the store's
 * and never stored inside the value.
 */
export interface Metadata {
  name: string;
  /** What the name was asked to begin with. */
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  /** RFC 3339, UTC, whole seconds. */
  creationTimestamp: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  deletionTimestamp?: string;
}

/** An object of a kind as the server holds it; `internal` never leaves it. */
export interface KindObject<S = any, T = any, I = any> {
  metadata: Metadata;
  spec: S;
  status: T;
  internal: I;
}

/** What an answer needs to know of the request itself. */
export interface RequestFacts {
  readonly auditID: string;
  /** The client's network: /32 of IPv4, /64 of IPv6. */
  readonly network: string;
  readonly userAgent: string;
  /** Whether `Sec-Fetch-Site` or `Origin` came with it (docs/design/wire.md#who-is-a-browser). */
  readonly browser: boolean;
  /**
   * Where a browser says the request comes from: `Sec-Fetch-Site`, where it is a word that is
   * known.
   */
  readonly site?: string;
}

/** One decision of policy, with what is done about it. */
export interface Decision extends DecisionSummary {
  /**
   * Refused by a rule that looks at no one in particular: anyone who does the same in the same way is
   * refused.
   */
  readonly appliesToEveryone?: true;
  /** Writes its record into the change that it allows: into every try at that commit. */
  join?(tx: Transaction): Promise<void>;
}

/**
 * Pieces of a transaction that someone else wrote: the library's records, a projection, a
 * decision.
 */
export interface StagedWrites {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  /** In place of the writes where the store has no room. */
  readonly deleteOnlyFallback?: DeleteOnlyFallback;
}

/**
 * What kinds need and others implement; declared in kinds/ports.ts by declaration merging, passed
 * in by cmd/vestibule/main.ts.
 */
export interface Ports {}

/**
 * What the deployment says that kinds need to know; declared in kinds/settings by declaration
 * merging.
 */
export interface Settings {
  /** The origin all links, cookies and the issuer come from, without a trailing slash. */
  readonly baseURL: string;
  /** Multiplies every rate limit on requests and mails; 1 but under load tests. */
  readonly limitFactor: number;
  /** Every limit that an operator may set: milliseconds, bytes, counts (docs/design/limits.md). */
  readonly limits: Limits;
  /** The store's epoch: records of an older one came back with a backup and are dead. */
  readonly epoch: number;
}

/** Everything a strategy or an action may know and do in one request. */
export interface Call {
  /** Milliseconds since the epoch, the same during the whole call. */
  readonly now: number;
  readonly caller: Caller;
  readonly request: RequestFacts;
  readonly dryRun: boolean;
  readonly ports: Ports;
  readonly settings: Settings;
  readonly keys: Keys;
  /** The decision that let the request in; it goes into the first commit. */
  readonly decision?: Decision;
  /**
   * Puts a question of the kind's own to policy: a scope to be shared, a sign-up, a way to sign in;
   * `record` says what becomes of the answer, `caller` who asks where it is not anyone who asks here.
   */
  decide(action: string, facts: Record<string, unknown>): Promise<Decision>;
  store<K extends AnyKind>(kind: K): Reader<ObjectOf<K>>;
  /** Takes one from a limit by client network, in a commit of its own, or throws 429. */
  spend(limit: Limit): Promise<void>;
  /** Gives one back that turned out not to count. */
  giveBack(limit: Limit): void;
  /** How much of a limit's ceiling for everybody is spent, from 0 to 1. */
  spentRatio(limit: Limit): Promise<number>;
  /** One commit; `work` runs again when a race was lost. With dryRun all but the commit. */
  change<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Reads of one kind, decided already: nothing is filtered here. */
export interface Reader<O> {
  /** The latest, or undefined. */
  get(name: string): Promise<O | undefined>;
  /** From the coherent cache where it is fresh, else the latest. */
  cached(name: string): Promise<O | undefined>;
  /**
   * From the coherent cache alone; undefined where that does not have it or cannot be trusted now.
   */
  held(name: string): O | undefined;
  /** All, or those of one owner. */
  list(owner?: string): Promise<O[]>;
  /** The object that claims a unique value. */
  byUnique(field: string, value: string): Promise<O | undefined>;
}

/**
 * One optimistic transaction: everything read is checked at commit, everything written goes through
 * its kind's strategy.
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
  create<K extends AnyKind>(kind: K, object: Draft<ObjectOf<K>>): Promise<ObjectOf<K>>;
  /** Changes what `get` returned; a no-op writes nothing. Throws 404 when absent. */
  update<K extends AnyKind>(
    kind: K,
    name: string,
    change: (next: ObjectOf<K>) => void | Promise<void>,
  ): Promise<ObjectOf<K>>;
  delete<K extends AnyKind>(kind: K, name: string): Promise<ObjectOf<K> | undefined>;
  /**
   * Removes an object at once, also where its kind carries deletions out by steps: their last one.
   */
  erase(kind: AnyKind, name: string): Promise<void>;
  /**
   * Writes an outbox row that `worker` carries out after the commit; `until` in milliseconds since
   * the epoch.
   */
  enqueue(
    worker: string,
    payload: unknown,
    until: number,
    options?: { id?: string; notBefore?: number },
  ): Promise<void>;
  /** Takes one from a counted limit in this commit, or throws 429. */
  spend(limit: Limit, subject: string): Promise<void>;
  /** Adds pieces that someone else wrote. */
  add(part: StagedWrites): void;
  /** Does something to the answer once the commit is made; never on a dry run. */
  after(effect: () => void): void;
  /** A raw key outside `objects/`, checked at commit. */
  read(key: string): Promise<{ value: Buffer; expires?: number } | undefined>;
  write(key: string, value: Buffer, expires?: number): void;
  remove(key: string): void;
}

/** What a creation is given: the service fills in the rest of the metadata. */
export type Draft<O> =
  O extends KindObject<infer S, infer T, infer I>
    ? { metadata: Partial<Metadata>; spec: S; status?: T; internal?: I }
    : never;

/**
 * Hooks of a kind; all optional, all may run again, all pure but `also`.
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
  /** Fills or tidies what the caller sent; the schema has passed. */
  default?(next: O, old: O | undefined, call: Call): void;
  /** Rules no schema can say. */
  validate?(next: O, old: O | undefined, call: Call): Cause[];
  /**
   * What is worked out rather than stored, or left out of what this caller sees, from the object
   * and the caller alone.
   */
  status?(object: O, call: Pick<Call, 'caller' | 'now'>): void;
  /** What else belongs in the transaction; no `next`: a deletion. */
  beforeCommit?(
    tx: Transaction,
    next: O | undefined,
    old: O | undefined,
    call: Call,
  ): Promise<void> | void;
  /** Completes the answer to an action or a get of one object; never stored, listed or watched. */
  decorate?(object: O, call: Call): Promise<void>;
  /**
   * Carries a deletion out in place of removing the object at once; the object as it then stands is
   * answered, or, where it does not stand any more, as this gives it.
   */
  beginDelete?(tx: Transaction, old: O, call: Call): Promise<O | void>;
}

/** What defineKind takes. */
export interface KindDefinition<
  S extends z.ZodTypeAny,
  T extends z.ZodTypeAny,
  I extends z.ZodTypeAny,
> {
  kind: string;
  resource: string;
  singular?: string;
  shortNames?: readonly string[];
  /** What kubectl may call it together with others; `identity` by default, never `all`. */
  categories?: readonly string[];
  /** One sentence for both OpenAPI documents and the reference. */
  description: string;
  verbs: readonly Verb[];
  /** `spec.account` or `status.account`: owned by an Account and named `<account>-<suffix>`. */
  owner?: 'spec.account' | 'status.account' | 'metadata.name';
  /** Answers only to the Browser that holds the cookie of this very name. */
  bound?: boolean;
  /** Named by the service: a name in a create is refused. */
  named?: 'service';
  /** Takes the place of the plain create. */
  create?: Creation;
  /** Read on most requests, therefore kept in the coherent cache. */
  cached?: boolean;
  /**
   * Objects of it are sent to others, who answer them with something in status: its name, what is
   * sent of the spec, and what status they answer.
   */
  webhook?: { name: string; description: string; answer: z.ZodTypeAny };
  /** The largest body in bytes. */
  bodyLimit?: number;
  /** Updates and patches, counted by client network before the body is decoded. */
  changeLimit?: LimitOf;
  spec: S;
  status: T;
  internal?: I;
  /** Values of which no two objects of the kind have the same. */
  unique?: Record<
    string,
    (
      object: KindObject<z.infer<S>, z.infer<T>, z.infer<I>>,
    ) => string | readonly string[] | undefined
  >;
  columns: Record<string, Column<KindObject<z.infer<S>, z.infer<T>, z.infer<I>>>>;
  /** Milliseconds since the epoch after which the store may collect the object. */
  expires?: (object: KindObject<z.infer<S>, z.infer<T>, z.infer<I>>) => number | undefined;
  strategy?: Strategy<KindObject<z.infer<S>, z.infer<T>, z.infer<I>>>;
}

/**
 * An action in the place of a kind's create: POST on `<resource>` where more is to be done than to
 * store what was sent.
 */
export interface Creation {
  /** The spec that is sent, where it is another than the kind's own. */
  spec?: z.ZodTypeAny;
  /** Whether it can be tried without doing it; else `dryRun` is refused. */
  dryRun?: boolean;
  /** Counted by client network before the body is decoded. */
  limit?: LimitOf;
  /** Does it; answers the object made. */
  run(call: Call, body: CreationBody): Promise<KindObject>;
}

/** What was sent to a Creation, decoded and validated. */
export interface CreationBody {
  readonly spec: any;
  readonly metadata: Pick<Metadata, 'labels' | 'annotations'>;
}

/**
 * A table cell; with `wide` one that shows with `-o wide` alone, with `since` how long ago a
 * timestamp was.
 */
export type Column<O> =
  | ((object: O) => unknown)
  | { wide: (object: O) => unknown }
  | { since: (object: O) => string | null | undefined };

/** A kind: one value that gives types, validator, documents, discovery and storage their truth. */
export interface Kind<S = any, T = any, I = any>
  extends Omit<
    KindDefinition<z.ZodTypeAny, z.ZodTypeAny, z.ZodTypeAny>,
    'strategy' | 'columns' | 'unique' | 'expires'
  > {
  readonly group: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly columns: Record<string, Column<any>>;
  readonly unique: Record<string, (object: any) => string | readonly string[] | undefined>;
  readonly expires?: (object: any) => number | undefined;
  readonly strategy: Strategy<any>;
  /** For the compiler alone. */
  readonly $object?: KindObject<S, T, I>;
}

export type AnyKind = Kind<any, any, any>;
export type ObjectOf<K> = K extends Kind<infer S, infer T, infer I> ? KindObject<S, T, I> : never;

/**
 * Makes a kind of its definition; `hack/new-kind` writes one.
 *
 * @example
 * ```ts
 * export const Widget = defineKind({
 *   kind: 'Widget',
 *   resource: 'widgets',
 *   description: 'A thing that operators give a name.',
 *   verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
 *   spec: z.object({ displayName: line(64).describe('Its name for people.') }),
 *   status: z.object({}),
 *   columns: { 'Display-Name': ({ spec }) => spec.displayName },
 * });
 * ```
 */
export function defineKind<
  S extends z.ZodTypeAny,
  T extends z.ZodTypeAny,
  I extends z.ZodTypeAny = z.ZodTypeAny,
>(definition: KindDefinition<S, T, I>): Kind<z.infer<S>, z.infer<T>, z.infer<I>> {
  return {
    ...definition,
    group,
    singular: definition.singular ?? definition.kind.toLowerCase(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? ['identity'],
    unique: definition.unique ?? {},
    strategy: definition.strategy ?? {},
  } as Kind<z.infer<S>, z.infer<T>, z.infer<I>>;
}
