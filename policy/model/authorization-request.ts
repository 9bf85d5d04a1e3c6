import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Caller, KindObject } from '../../registry/kind.js';

/** The resource that stands for a whole collection: no object is ever named so. */
export const everything = '*';

/** Who asks in a question without a sign-in. */
const visitor = 'anyone';

/** The account of a person whose first sign-in is being judged: it has no name yet. */
const unnamed = 'new';

/**
 * Actions put to policy where their facts are known, on a resource that is no object; who asks of
 * an endpoint makes no difference.
 */
const resourceOf: Readonly<Record<string, readonly [type: string, fact: string]>> = {
  signUp: ['Client', 'client'],
  signIn: ['Client', 'client'],
  share: ['Scope', 'scope'],
  discovery: ['Path', 'path'],
  health: ['Path', 'path'],
  page: ['Path', 'path'],
  asset: ['Path', 'path'],
  provider: ['Path', 'path'],
};

const none: readonly string[] = [];
const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise;

/** What an Interaction holds of the sign-in that it has come to. */
interface Login {
  readonly method: string;
  readonly acr: string;
  readonly seconds: number;
  readonly passkeys?: number;
}

/**
 * A question as Cedar sees it: one principal, action and resource, each a type and an id, and facts
 * that are read when a rule mentions them.
 */
export class AuthorizationRequest {
  readonly question: AuthorizationAttributes;
  readonly principalType: string;
  readonly principal: string;
  readonly resourceType: string;
  readonly resource: string;

  readonly #time: number | undefined;

  /** `time` in milliseconds since the epoch, where it is another than now. */
  constructor(question: AuthorizationAttributes, time?: number) {
    this.question = question;
    this.#time = time;
    const { caller, action, kind, facts } = question;
    const other = kind ? undefined : resourceOf[action];
    this.resourceType = kind ? kind.kind : (other?.[0] ?? 'Path');
    this.resource = kind ? nameOf(question) : textOr(facts?.[other?.[1] ?? 'path'], everything);
    if (this.resourceType === 'Path') {
      this.principalType = 'Anonymous';
      this.principal = visitor;
      return;
    }
    if (action === 'signUp' || action === 'signIn' || action === 'share') {
      this.principalType = 'Account';
      this.principal = caller.type === 'Account' ? caller.account : textOr(facts?.account, unnamed);
      return;
    }
    this.principalType = caller.type;
    this.principal = callerName(caller) ?? visitor;
  }

  get time(): number {
    return this.#time ?? Date.now();
  }
  get action(): string {
    return this.question.action;
  }

  /**
   * The groups of the principal: those that list an account's address, or those of a cluster's
   * user.
   */
  get groups(): readonly string[] {
    const { caller, facts } = this.question;
    if (this.principalType === 'ClusterUser')
      return caller.type === 'ClusterUser' ? caller.groups : none;
    if (this.principalType !== 'Account') return none;
    const { groups, operator } = (caller.type === 'Account' ? caller : (facts ?? {})) as {
      groups?: readonly string[];
      operator?: boolean;
    };
    return groups ?? (operator ? ['operators'] : none);
  }

  /** The facts that came with the question. */
  get given(): AuthorizationAttributes['facts'] {
    return this.question.facts;
  }

  /**
   * A fact that came with the question, else what is known of the caller's own sign-in, which of a
   * browser is the one that its Interaction has come to.
   */
  fact(name: string): unknown {
    return this.question.facts?.[name] ?? this.#ofSignIn(name);
  }

  #ofSignIn(name: string): unknown {
    const { caller } = this.question;
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
    const { kind, object } = this.question;
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
    return this.question.object;
  }
}

/** Returns the name of who asks; undefined for a visitor and for this service itself. */
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
 * An object's name; of an owner's range what its objects are named by; of a whole collection `*`.
 */
function nameOf({ name, owner, kind }: AuthorizationAttributes): string {
  if (name !== undefined) return name;
  if (owner === undefined) return everything;
  return kind!.owner === 'metadata.name' ? owner : `${owner}-${everything}`;
}

/**
 * Who owns what is named so: everything an account owns is named `<account>-<suffix>`, and the
 * account itself owns itself.
 */
export const ownerOf = (id: string, owner: string): string => {
  if (owner === 'metadata.name') return id;
  const end = id.indexOf('-');
  return end < 0 ? id : id.slice(0, end);
};
