import type { Operator } from '../../kinds/people/group/operator.js';
import { domainOf } from '../../kinds/signin/email-address.js';
import type { AuthorizationAttributes, EntityFacts } from '../../registry/authorizer.js';
import type { Caller, KindObject } from '../../registry/kind.js';
import type { AccountFacts } from './entity-attributes.js';

/** The resource id of a whole collection; no object can have this name. */
export const wholeCollection = '*';

/** The principal id of a request without a sign-in. */
const anonymousId = 'anyone';

/** The principal id at the first sign-in of a person, whose account has no name yet. */
const newAccountId = 'new';

/**
 * Actions on a resource that is not an object: its type and the fact with its id. For a Path and for
 * `register`, the caller makes no difference.
 */
const resourceTypes: Readonly<Record<string, readonly [type: string, fact: string]>> = {
  register: ['Client', 'client'],
  signUp: ['Client', 'client'],
  signIn: ['Client', 'client'],
  share: ['Scope', 'scope'],
  discovery: ['Path', 'path'],
  health: ['Path', 'path'],
  page: ['Path', 'path'],
  asset: ['Path', 'path'],
  provider: ['Path', 'path'],
};

const noGroups: readonly string[] = [];
const stringOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' ? value : fallback;

/** What an Interaction holds about its sign-in. */
interface SignInRecord {
  readonly acrRequested?: string;
  readonly login?: {
    readonly method: string;
    readonly acr: string;
    readonly seconds: number;
    readonly passkeys?: number;
  };
}

/** Facts about entities that are in memory. */
export interface KnownEntities {
  /** Returns the facts about an entity: null if it does not exist, undefined if it must be loaded. */
  peek(type: string, id: string): EntityFacts | null | undefined;
  /** Returns the facts of an object as it is given; undefined if they must be loaded. */
  ofObject(type: string, object: KindObject): EntityFacts | undefined;
}

/** Where facts come from: at each decision, and about operators at each check. */
export interface PolicySource extends KnownEntities {
  operators?(): Promise<readonly Operator[]>;
  /** The time zone of `timeOfDay` and `weekday` now. */
  readonly timeZone?: string;
}

/** What decisions depend on beside the request. */
export interface DecisionEnvironment {
  /** Milliseconds since the epoch; by default now. */
  readonly timeMs?: number | undefined;
  /** Whether the request is a recorded one: reading a fact that is not recorded throws. */
  readonly isRecorded?: boolean;
  /** The IANA time zone of `timeOfDay` and `weekday`; by default UTC. */
  readonly timeZone?: string | undefined;
  readonly entities?: KnownEntities;
}

/** An entity that a decision needs is not in memory: `Authorizer.load` was not called. */
class EntityNotLoadedError extends Error {
  override readonly name = 'EntityNotLoadedError';
}

/**
 * A request as Cedar evaluates it: one principal, action and resource, each with type and id, and
 * context attributes that are read when a rule mentions them.
 */
export class AuthorizationRequest {
  readonly attributes: AuthorizationAttributes;
  readonly principalType: string;
  readonly principal: string;
  readonly resourceType: string;
  readonly resource: string;

  readonly #environment: DecisionEnvironment;

  constructor(attributes: AuthorizationAttributes, environment: DecisionEnvironment = {}) {
    this.attributes = attributes;
    this.#environment = environment;
    const { caller, action, kind, facts } = attributes;
    const other = kind ? undefined : resourceTypes[action];
    this.resourceType = kind ? kind.kind : (other?.[0] ?? 'Path');
    this.resource = kind
      ? nameOf(attributes)
      : stringOr(facts?.[other?.[1] ?? 'path'], wholeCollection);
    if (this.resourceType === 'Path' || action === 'register') {
      this.principalType = 'Anonymous';
      this.principal = anonymousId;
      return;
    }
    if (action === 'signUp' || action === 'signIn' || action === 'share') {
      this.principalType = 'Account';
      this.principal =
        caller.type === 'Account' ? caller.account : stringOr(facts?.account, newAccountId);
      return;
    }
    this.principalType = caller.type;
    this.principal = callerName(caller) ?? anonymousId;
  }

  get time(): number {
    return this.#environment.timeMs ?? this.attributes.at ?? Date.now();
  }
  get isRecorded(): boolean {
    return this.#environment.isRecorded ?? false;
  }
  get timeZone(): string {
    return this.#environment.timeZone ?? 'UTC';
  }
  get action(): string {
    return this.attributes.action;
  }

  /**
   * The groups of the principal: those that list an account's address, or those of a cluster user.
   */
  get groups(): readonly string[] {
    const { caller, facts } = this.attributes;
    if (this.principalType === 'ClusterUser') {
      return caller.type === 'ClusterUser' ? caller.groups : noGroups;
    }
    if (this.principalType !== 'Account') return noGroups;
    const { groups, operator } = (caller.type === 'Account' ? caller : (facts ?? {})) as {
      groups?: readonly string[];
      operator?: boolean;
    };
    return groups ?? (operator ? ['operators'] : noGroups);
  }

  /**
   * Returns the facts about an entity; undefined if it does not exist, as a whole collection does
   * not. Throws if they must be loaded first.
   */
  entity(type: string, id: string): EntityFacts | undefined {
    if (this.#isPrincipal(type, id)) return this.#principalFacts;
    const facts = this.peekEntity(type, id);
    if (facts === undefined) throw new EntityNotLoadedError(`${type} ${id} is not loaded`);
    return facts ?? undefined;
  }

  /** Returns whether the facts about an entity must be loaded before the decision. */
  isMissing(type: string, id: string): boolean {
    return !this.#isPrincipal(type, id) && this.peekEntity(type, id) === undefined;
  }

  #isPrincipal(type: string, id: string): boolean {
    return (
      type === 'Account' &&
      this.principalType === type &&
      id === this.principal &&
      !this.#becomes(type, id)
    );
  }

  /** Returns whether an entity is the object that the request makes. */
  #becomes(type: string, id: string): boolean {
    return this.attributes.becomes === true && this.#isResource(type, id);
  }

  #isResource(type: string, id: string): boolean {
    return type === this.resourceType && id === this.resource;
  }

  /** Returns the same, but null for an entity that does not exist and undefined if it must be loaded. */
  peekEntity(type: string, id: string): EntityFacts | null | undefined {
    if (id === wholeCollection) return null;
    const key = `${type} ${id}`;
    const { entities: loaded } = this.attributes;
    const known = this.#environment.entities;
    if (loaded?.has(key)) return loaded.get(key);
    const object = this.#isResource(type, id) ? this.object : undefined;
    const facts = object && known?.ofObject(type, object);
    return facts ?? (this.#becomes(type, id) ? undefined : known?.peek(type, id));
  }

  /** The principal as the request knows it: it may be an Account that is about to be created. */
  get #principalFacts(): EntityFacts {
    const passkeys = this.fact('passkeys');
    const created = this.fact('created');
    return {
      groups: this.groups,
      created: typeof created === 'number' ? created : this.time,
      passkeys: typeof passkeys === 'number' ? passkeys : 0,
      emailDomain: this.emailDomain,
    } satisfies AccountFacts;
  }

  /** The domain of the person's address, in lower case; an empty string if there is none. */
  get emailDomain(): string {
    const { caller } = this.attributes;
    const known = caller.type === 'Account' ? domainOf(caller.email) : '';
    return stringOr(this.facts?.domain, known);
  }

  /** The facts of the request. */
  get facts(): AuthorizationAttributes['facts'] {
    return this.attributes.facts;
  }

  /**
   * Returns a fact of the request, or else of the caller's sign-in. For a browser that is the
   * sign-in of its Interaction.
   */
  fact(name: string): unknown {
    return this.attributes.facts?.[name] ?? this.#ofSignIn(name);
  }

  #ofSignIn(name: string): unknown {
    const { caller } = this.attributes;
    switch (caller.type) {
      case 'Account':
        return (caller as unknown as Record<string, unknown>)[name];
      case 'Browser':
        return this.#signIn()?.[name];
      default:
        return undefined;
    }
  }

  #signIn(): Readonly<Record<string, unknown>> | undefined {
    const { kind, object } = this.attributes;
    if (!kind?.heldBy || !object) return undefined;
    const { login, acrRequested } = (object.internal ?? {}) as SignInRecord;
    return {
      acrRequested,
      scopesRequested: object.spec?.scopes,
      ...(login && {
        methods: [login.method],
        assurance: login.acr,
        authenticated: login.seconds,
        passkeys: login.passkeys,
      }),
    };
  }

  get object(): KindObject | undefined {
    return this.attributes.object;
  }
}

/** Returns the caller's name; undefined for anonymous callers and the service itself. */
export function callerName(caller: Caller): string | undefined {
  switch (caller.type) {
    case 'Account':
      return caller.account;
    case 'Browser':
      return caller.interaction;
    case 'ClusterUser':
      return caller.user;
    case 'Client':
      return caller.client;
    default:
      return undefined;
  }
}

/**
 * Returns the resource id: the object's name, `<owner>-*` for the range of an owner, `*` for a
 * collection.
 */
function nameOf({ name, owner, kind }: AuthorizationAttributes): string {
  if (name !== undefined) return name;
  if (owner === undefined) return wholeCollection;
  return kind!.owner === 'metadata.name' ? owner : `${owner}-${wholeCollection}`;
}

/**
 * Returns the owner of a name: objects of an account are named `<account>-<suffix>`, and an account
 * owns itself.
 */
export const ownerOf = (id: string, owner: string): string => {
  if (owner === 'metadata.name') return id;
  const separator = id.indexOf('-');
  return separator < 0 ? id : id.slice(0, separator);
};
