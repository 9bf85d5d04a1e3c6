import { type Authorizer, loaded } from '../../registry/authorizer.js';
import type { OutcomeAuthorizer } from '../../registry/call-facts.js';
import type { Decision, KindObject } from '../../registry/kind.js';
import { namespacedName } from '../../registry/schema/namespaced-name.js';
import { type AuthorizationRequestContext, actionOf } from './authorization-attributes.js';
import { forbiddenError } from './authorization-errors.js';

/** The verbs of requests that change objects; an action has that of its method. */
const changingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/**
 * Returns how a change is authorized again for the object as it becomes. An Interaction is the
 * caller's own sign-in: its facts are those of the caller.
 */
export function outcomeOf(
  authorizer: Authorizer,
  context: AuthorizationRequestContext,
): { readonly outcome?: OutcomeAuthorizer } {
  const { kind, verb, name, namespace } = context.requestInfo;
  if (!changingVerbs.has(verb) || kind.heldBy) return {};
  return {
    outcome: {
      kind,
      ...(name !== undefined && { name: namespacedName({ namespace, name }) }),
      authorize: (object, provisional) =>
        authorizeOutcome(authorizer, context, object, provisional),
    },
  };
}

async function authorizeOutcome(
  authorizer: Authorizer,
  { requestInfo, caller, facts }: AuthorizationRequestContext,
  object: KindObject,
  provisional: boolean,
): Promise<Decision> {
  const { kind, verb, subresource } = requestInfo;
  const { name, namespace } = object.metadata;
  const action = actionOf(requestInfo);
  const attributes = await loaded(authorizer, {
    caller,
    action,
    verb,
    kind,
    name,
    namespace,
    subresource,
    object,
    becomes: true,
    facts,
  });
  const decision = authorizer.decide(attributes, 'permission');
  if (decision.allowed) return decision;
  const refusal = provisional ? decision : authorizer.decide(attributes);
  throw forbiddenError({ ...requestInfo, name }, caller, refusal);
}
