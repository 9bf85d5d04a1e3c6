import type { AnyKind, Awaitable, Caller, Decision, KindObject, Verb } from './kind.js';
import type { Details } from './status/status.js';

type Texts = Readonly<Record<string, string>>;

/**
 * The attributes of an authorization request: caller, action, object or kind, facts
 * (docs/design/api.md#policy).
 */
export interface AuthorizationAttributes {
  readonly caller: Caller;
  /**
   * A verb, an action's subresource as `<resource>/<subresource>`, or one of register, signUp, signIn,
   * share, discovery, health, metrics, page, provider.
   */
  readonly action: string;
  /** The verb of a request for objects; for an action, that of its method. */
  readonly verb?: Verb;
  readonly kind?: AnyKind;
  readonly name?: string;
  /** The namespace of the request, or of the object of one for all; absent for kinds without. */
  readonly namespace?: string | undefined;
  /**
   * The last part of a path below an object: `status`, whose action is the verb on it, or an action's.
   */
  readonly subresource?: string | undefined;
  /** The object, if it exists and was read. */
  readonly object?: KindObject | undefined;
  /** Whether `object` is what the request makes: its own facts count, not those that are stored. */
  readonly becomes?: true;
  /** Asks for every object of the kind: permitted only if each one would be. */
  readonly every?: boolean;
  /** The owner whose range a list, watch or deletecollection is limited to. */
  readonly owner?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  /** When the request was made, in milliseconds since the epoch; by default now. */
  readonly at?: number;
  /** The entities that were loaded for this request (`Authorizer.load`), by type and id. */
  readonly entities?: LoadedEntities | undefined;
  /**
   * `decideQuietly` adds to a refusal the alternatives that change one of these facts alone
   * (docs/design/policy.md#why-not).
   */
  readonly explain?: readonly string[];
}

/** The message of a refusal if the policy has none. */
export const defaultRefusalMessage = 'Policy refuses it.';

/** Returns the message of a refusal: for a 403, a cause, the consent page. */
export const refusalMessage = ({ reasons }: Decision): string =>
  reasons[0]?.message || defaultRefusalMessage;

/** Returns the message of a refusal by language tag; undefined if it has one alone. */
export const refusalTexts = ({ reasons }: Decision): Texts | undefined => reasons[0]?.messages;

/** Returns what a Status has about a refusal that a page shows. */
export const refusalDetails = (decision: Decision): Pick<Details, 'policyDecision' | 'messages'> =>
  decision.name
    ? {
        policyDecision: decision.name,
        ...(refusalTexts(decision) && { messages: refusalTexts(decision)! }),
      }
    : {};

/** What rules may use about an entity: a Client, a scope, the Account that owns an object. */
export type EntityFacts = Readonly<Record<string, unknown>>;

/** Facts by entity, as `<type> <id>`; null for one that does not exist. */
export type LoadedEntities = ReadonlyMap<string, EntityFacts | null>;

/**
 * What `Authorizer.decide` records, where that does not follow from the action: of a permission
 * alone, because another decision answers a refusal; or of a change, in the commit that makes it.
 */
export type Recorded = 'permission' | 'change';

/** How a permitted request failed, and whom and what it concerned, as far as they are known. */
export interface Failure {
  readonly outcome: string;
  readonly account?: string | undefined;
  readonly client?: string | undefined;
}

/** A decision on a change, which may fail although it was permitted. */
interface DecisionOnChange extends Decision {
  /** Counts what it permitted among the requests that failed. */
  noteFailure(failure: Failure): void;
}

/** Whether a decision is one whose request can be counted among those that failed. */
export const isOnChange = (decision: Decision): decision is DecisionOnChange =>
  'noteFailure' in decision;

/** Authorizes requests and scopes. What no policy permits is denied. */
export interface Authorizer {
  /** Decides, and records the decision. Synchronous; never throws. */
  decide(attributes: AuthorizationAttributes, recorded?: Recorded): Decision;
  /** Decides, and records nothing: what is asked is not what someone does. Never throws. */
  decideQuietly(attributes: AuthorizationAttributes): Decision;
  /**
   * Loads the facts that the rules about these requests mention and that are not in memory, for their
   * `entities`; undefined if there are none. A decision without them is a refusal. Absent while no
   * rule mentions such facts.
   */
  readonly load?:
    | ((all: readonly AuthorizationAttributes[]) => Promise<LoadedEntities> | undefined)
    | undefined;
}

/** Returns the attributes with the facts that the rules mention. */
export function loaded(
  authorizer: Authorizer,
  attributes: AuthorizationAttributes,
): Awaitable<AuthorizationAttributes> {
  return (
    authorizer.load?.([attributes])?.then((entities) => ({
      ...attributes,
      entities: new Map([...entities, ...(attributes.entities ?? [])]),
    })) ?? attributes
  );
}
