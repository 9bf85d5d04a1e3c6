import type {
  AuthorizationAttributes,
  Authorizer,
  EntityFacts,
} from '../../registry/authorizer.js';
import type { Awaitable, Decision } from '../../registry/kind.js';

/** Decides about a request; a promise that is rejected fails the request. */
export type Authorize = (attributes: AuthorizationAttributes) => Awaitable<Decision>;

/** What was asked and could not be awaited is refused. */
const unanswered: Decision = { allowed: false, reasons: [] };

/**
 * Returns an authorizer that records nothing and asks a function, which may wait. The chain decides at
 * once, so its questions are answered before, as what is loaded for it.
 */
export function waitingAuthorizer(authorize: Authorize): Authorizer {
  /** Whether the function has waited before: then an answer counts for the whole request. */
  let waits = false;
  const decide = (attributes: AuthorizationAttributes): Decision => {
    const known = answerIn(attributes.entities?.get(questionOf(attributes)));
    if (known) return known;
    const decision = authorize(attributes);
    if (!('then' in decision)) return decision;
    decision.catch(() => {
      /* The answer comes too late to count. */
    });
    return unanswered;
  };
  const load: Authorizer['load'] = (all) => {
    const answers = new Map(all.map((one) => [questionOf(one), one]));
    const asked = [...answers].map(
      ([question, one]) => [question, asking(authorize, one)] as const,
    );
    waits ||= asked.some(([, decision]) => 'then' in decision);
    return waits ? awaited(asked) : undefined;
  };
  return { decide, decideQuietly: decide, load };
}

/** Returns the decision; an error is that of a promise, so that it fails the request where it is awaited. */
function asking(authorize: Authorize, one: AuthorizationAttributes): Awaitable<Decision> {
  try {
    return authorize(one);
  } catch (error) {
    return Promise.reject(error);
  }
}

const awaited = async (
  asked: readonly (readonly [string, Awaitable<Decision>])[],
): Promise<ReadonlyMap<string, EntityFacts>> =>
  new Map(
    await Promise.all(
      asked.map(async ([question, decision]) => [question, { decision: await decision }] as const),
    ),
  );

/** Returns equal texts for attributes about which decisions are equal. */
function questionOf(attributes: AuthorizationAttributes): string {
  const {
    caller,
    action,
    verb,
    subresource,
    kind,
    name,
    namespace,
    owner,
    every,
    becomes,
    at,
    facts,
    object,
  } = attributes;
  const { uid, resourceVersion } = object?.metadata ?? {};
  const of = [
    action,
    verb,
    subresource,
    kind?.storageName,
    name,
    namespace,
    owner,
    every,
    becomes,
    uid,
    resourceVersion,
  ];
  return `answer ${JSON.stringify([...of, at, caller, facts])}`;
}

const answerIn = (facts: EntityFacts | null | undefined): Decision | undefined =>
  isDecision(facts?.decision) ? facts.decision : undefined;

const isDecision = (value: unknown): value is Decision =>
  typeof value === 'object' && value !== null && 'allowed' in value;
