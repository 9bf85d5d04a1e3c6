import type { DecisionObject, Input } from '../../kinds/policy/policy-decision.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import { AuthorizationRequest, callerName } from '../model/authorization-request.js';
import { contextAttributes } from '../model/context-attributes.js';

type Spec = DecisionObject['spec'];

/** The largest number of groups recorded. */
const maxGroups = 200;

/**
 * Returns the Account that a decision concerns: the caller, or whose sign-in it is. An account
 * about to be created counts only if the request is allowed.
 */
export function accountOf(
  { caller, facts: givenFacts, object }: AuthorizationAttributes,
  allowed: boolean,
): string | undefined {
  if (caller.type === 'Account') return caller.account;
  const found =
    givenFacts?.account ??
    (allowed ? givenFacts?.becomes : undefined) ??
    (caller.type === 'Browser' ? object?.status?.account?.name : undefined);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the recorded form of a request: the public part, and what only the object revealed. */
export function toRecord(
  attributes: AuthorizationAttributes,
  response: { policy: string; allowed: boolean },
): { spec: Spec; internal: DecisionObject['internal'] } {
  const request = new AuthorizationRequest(attributes);
  const { action, kind } = attributes;
  const account = accountOf(attributes, response.allowed);
  const [, subresource] = kind ? action.split('/') : [];
  const name = kind ? attributes.name : request.resource;
  const client = clientOf(request);
  const target =
    action === 'share'
      ? { scope: request.resource, ...(client !== undefined && { client }) }
      : {
          resource: {
            kind: request.resourceType,
            ...(name !== undefined && { name }),
            ...(subresource && { subresource }),
          },
        };
  return {
    spec: {
      ...(account !== undefined && { account }),
      principal: principalOf(request),
      action,
      ...target,
      policy: response.policy,
      input: inputOf(request, name),
    },
    internal: { ...(attributes.facts?.client === undefined && client !== undefined && { client }) },
  };
}

/** Returns a principal as rules name it. */
export const principalOf = ({ principalType, principal }: AuthorizationRequest): string =>
  principalType === 'Anonymous' ? 'Anonymous' : `${principalType}::${JSON.stringify(principal)}`;

function clientOf(request: AuthorizationRequest): string | undefined {
  const client = contextAttributes.client!.read(request) as
    | { __entity: { id: string } }
    | undefined;
  return client?.__entity.id;
}

function inputOf(request: AuthorizationRequest, name: string | undefined): Input {
  const {
    attributes: { caller, owner, facts: givenFacts = {} },
  } = request;
  const ownName = callerName(caller);
  const value = (fact: string): unknown => {
    const read = contextAttributes[fact]!.read(request);
    return read === '' || read === false || (Array.isArray(read) && read.length === 0)
      ? undefined
      : read;
  };
  const authenticated = request.fact('authenticated');
  const recordedFacts = {
    account: givenFacts.account,
    client: givenFacts.client,
    authenticated: typeof authenticated === 'number' ? authenticated : undefined,
  };
  for (const fact of [
    'domain',
    'method',
    'methods',
    'assurance',
    'passkeys',
    'invited',
    'operatorsHavePasskeys',
    'operatorsHaveFullPasskeys',
    'signedInRecently',
    'metadataOnly',
    'newBrowser',
    'acrRequested',
    'scopesRequested',
    'site',
  ]) {
    Object.assign(recordedFacts, { [fact]: value(fact) });
  }
  return {
    caller: {
      type: caller.type as Input['caller']['type'],
      ...(ownName !== undefined && { name: ownName }),
    },
    ...(request.groups.length > 0 && { groups: request.groups.slice(0, maxGroups) }),
    ...(name !== undefined && { name }),
    ...(owner !== undefined && { owner }),
    facts: Object.fromEntries(
      Object.entries(recordedFacts).filter(([, factValue]) => factValue !== undefined),
    ),
  };
}

/** Returns the attributes of a recorded request, or undefined if its kind is not served. */
export function toAttributes(
  { spec, internal }: DecisionObject,
  kinds: ReadonlyMap<string, AnyKind>,
): AuthorizationAttributes | undefined {
  const { action, input, resource } = spec;
  const kind = resource && kinds.get(resource.kind);
  const isWithoutKind =
    action === 'signUp' || action === 'signIn' || action === 'share' || resource?.kind === 'Path';
  if (!kind && !isWithoutKind) return undefined;
  const client = internal?.client === undefined ? {} : { client: internal.client };
  return {
    caller: callerOf(input),
    action,
    facts: { ...client, ...input.facts, ...otherFacts(spec), groups: input.groups ?? [] },
    ...(kind &&
      !isWithoutKind && {
        kind,
        ...(input.name !== undefined && { name: input.name }),
        ...(input.owner !== undefined && { owner: input.owner }),
      }),
  };
}

/** Returns the fact that names a resource which is not an object. */
function otherFacts({ action, input, resource }: Spec): AuthorizationAttributes['facts'] {
  if (action === 'share') return { scope: input.name };
  if (resource?.kind === 'Path') return { path: input.name };
  return action === 'signUp' || action === 'signIn' ? { client: input.name } : {};
}

function callerOf({ caller: { type, name = '' }, groups = [] }: Input): Caller {
  switch (type) {
    case 'Account':
      return { type, account: name, email: '', operator: false, groups };
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
