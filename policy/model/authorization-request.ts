import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Caller, KindObject } from '../../registry/kind.js';

/** The resource id of a whole collection; no object can have this name. */
export const wholeCollection = '*';

/** The principal id of a request without a sign-in. */
const anonymousId = 'anyone';

/** The principal id at the first sign-in of a person, whose account has no name yet. */
const newAccountId = 'new';

/**
 * Actions on a resource that is not an object: its type and the fact with its id. For a Path, the
 * caller makes no difference.
 */
const resourceTypes: Readonly<Record<string, readonly [type: string, fact: string]>> = {
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

/** The sign-in that an Interaction holds. */
interface Login {
  readonly method: string;
  readonly acr: string;
  readonly seconds: number;
  readonly passkeys?: number;
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

  readonly #time: number | undefined;

  /** `time` in milliseconds since the epoch; by default now. */
  constructor(attributes: AuthorizationAttributes, time?: number) {
    this.attributes = attributes;
    this.#time = time;
    const { caller, action, kind, facts } = attributes;
    const other = kind ? undefined : resourceTypes[action];
    this.resourceType = kind ? kind.kind : (other?.[0] ?? 'Path');
    this.resource = kind
      ? nameOf(attributes)
      : stringOr(facts?.[other?.[1] ?? 'path'], wholeCollection);
    if (this.resourceType === 'Path') {
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
    return this.#time ?? Date.now();
  }
  get action(): string {
    return this.attributes.action;
  }

  /**
   * The groups of the principal: those that list an account's address, or those of a cluster user.
   */
  get groups(): readonly string[] {
    const { caller, facts } = this.attributes;
    if (this.principalType === 'ClusterUser')
      return caller.type === 'ClusterUser' ? caller.groups : noGroups;
    if (this.principalType !== 'Account') return noGroups;
    const { groups, operator } = (caller.type === 'Account' ? caller : (facts ?? {})) as {
      groups?: readonly string[];
      operator?: boolean;
    };
    return groups ?? (operator ? ['operators'] : noGroups);
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
    const login = kind?.boundToCookie
      ? (object?.internal as { login?: Login } | undefined)?.login
      : undefined;
    return (
      login && {
        methods: [login.method],
        assurance: login.acr,
        authenticated: login.seconds,
        passkeys: login.passkeys,
      }
    );
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
