import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import { AuthorizationRequest, callerName } from '../model/authorization-request.js';
import type { DecisionObject, Input } from '../../kinds/policy/policy-decision.js';
import { facts } from '../model/context-attributes.js';

type Spec = DecisionObject['spec'];

/** Groups recorded at most. */
const max = 200;

/**
 * The Account a decision is about: who asked, or whose sign-in it is; one that is about to be made
 * only where it will be.
 */
export function accountOf(
  { caller, facts: told, object }: AuthorizationAttributes,
  allowed: boolean,
): string | undefined {
  if (caller.type === 'Account') return caller.account;
  const found =
    told?.account ??
    (allowed ? told?.becomes : undefined) ??
    (caller.type === 'Browser' ? object?.status?.account?.name : undefined);
  return typeof found === 'string' ? found : undefined;
}

/** What is recorded of a question: what people see of it, and what its object alone told. */
export function recordOf(
  question: AuthorizationAttributes,
  judgement: { policy: string; allowed: boolean },
): { spec: Spec; internal: DecisionObject['internal'] } {
  const asked = new AuthorizationRequest(question);
  const { action, kind } = question;
  const account = accountOf(question, judgement.allowed);
  const [, subresource] = kind ? action.split('/') : [];
  const name = kind ? question.name : asked.resource;
  const client = clientOf(asked);
  const about =
    action === 'share'
      ? { scope: asked.resource, ...(client !== undefined && { client }) }
      : {
          resource: {
            kind: asked.resourceType,
            ...(name !== undefined && { name }),
            ...(subresource && { subresource }),
          },
        };
  return {
    spec: {
      ...(account !== undefined && { account }),
      principal: principalOf(asked),
      action,
      ...about,
      policy: judgement.policy,
      input: inputOf(asked, name),
    },
    internal: { ...(question.facts?.client === undefined && client !== undefined && { client }) },
  };
}

/** A principal as rules name it. */
export const principalOf = ({ principalType, principal }: AuthorizationRequest): string =>
  principalType === 'Anonymous' ? 'Anonymous' : `${principalType}::${JSON.stringify(principal)}`;

function clientOf(asked: AuthorizationRequest): string | undefined {
  const client = facts.client!.read(asked) as { __entity: { id: string } } | undefined;
  return client?.__entity.id;
}

function inputOf(asked: AuthorizationRequest, name: string | undefined): Input {
  const {
    question: { caller, owner, facts: told = {} },
  } = asked;
  const own = callerName(caller);
  const value = (fact: string): unknown => {
    const read = facts[fact]!.read(asked);
    return read === '' || read === false || (Array.isArray(read) && read.length === 0)
      ? undefined
      : read;
  };
  const authenticated = asked.fact('authenticated');
  const known = {
    account: told.account,
    client: told.client,
    authenticated: typeof authenticated === 'number' ? authenticated : undefined,
  };
  for (const fact of [
    'domain',
    'method',
    'methods',
    'assurance',
    'passkeys',
    'operatorsHavePasskeys',
    'operatorsHaveFullPasskeys',
    'signedInRecently',
    'metadataOnly',
    'site',
  ])
    Object.assign(known, { [fact]: value(fact) });
  return {
    caller: {
      type: caller.type as Input['caller']['type'],
      ...(own !== undefined && { name: own }),
    },
    ...(asked.groups.length > 0 && { groups: asked.groups.slice(0, max) }),
    ...(name !== undefined && { name }),
    ...(owner !== undefined && { owner }),
    facts: Object.fromEntries(Object.entries(known).filter(([, one]) => one !== undefined)),
  };
}

/**
 * The question a recorded decision answered; undefined where it is about a kind that is not served.
 */
export function questionOf(
  { spec, internal }: DecisionObject,
  kinds: ReadonlyMap<string, AnyKind>,
): AuthorizationAttributes | undefined {
  const { action, input, resource } = spec;
  const kind = resource && kinds.get(resource.kind);
  const isOther =
    action === 'signUp' || action === 'signIn' || action === 'share' || resource?.kind === 'Path';
  if (!kind && !isOther) return undefined;
  const client = internal?.client === undefined ? {} : { client: internal.client };
  return {
    caller: callerOf(input),
    action,
    facts: { ...client, ...input.facts, ...otherFacts(spec), groups: input.groups ?? [] },
    ...(kind &&
      !isOther && {
        kind,
        ...(input.name !== undefined && { name: input.name }),
        ...(input.owner !== undefined && { owner: input.owner }),
      }),
  };
}

/** What was asked about where that is no object of a kind, as the fact that names it. */
function otherFacts({ action, input, resource }: Spec): AuthorizationAttributes['facts'] {
  if (action === 'share') return { scope: input.name };
  if (resource?.kind === 'Path') return { path: input.name };
  return action === 'signUp' || action === 'signIn' ? { client: input.name } : {};
}

function callerOf({ caller: { type, name = '' }, groups = [] }: Input): Caller {
  switch (type) {
    case 'Account':
      return { type, account: name, email: '', operator: false, groups } as Caller;
    case 'Browser':
      return { type, interaction: name };
    case 'ClusterUser':
      return { type, user: name, groups };
    case 'Client':
      return { type, client: name };
    default:
      return { type: 'Anonymous' };
  }
}
