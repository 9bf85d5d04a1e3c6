import { refusalDetails, refusalMessage } from '../../registry/authorizer.js';
import type { Caller, Decision } from '../../registry/kind.js';
import {
  forbidden,
  insufficientAuthentication,
  StatusError,
  unauthorized,
} from '../../registry/status/status.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import type { AuthorizationRequestContext } from './authorization-attributes.js';

/**
 * Reports whether the request looks like an owner lookup of a cluster's garbage collector. It
 * deletes dependents after a 404, so present and absent objects are both 403
 * (docs/design/kubernetes.md#garbage-collector).
 */
export const isOwnerLookup = ({ requestInfo, caller }: AuthorizationRequestContext): boolean =>
  caller.type === 'ClusterUser' &&
  requestInfo.verb === 'get' &&
  requestInfo.representation.metadataOnly;

/**
 * Returns the error of a refused request: 401 without a credential, or with a token whose sign-in is
 * too weak or too old, otherwise 403.
 */
export function forbiddenError(
  requestInfo: ResourceRequestInfo,
  caller: Caller,
  decision: Decision,
): Error {
  if (caller.type === 'Anonymous') return withDecision(unauthorized(), decision);
  const why = [refusalMessage(decision), decision.hint].filter(Boolean).join(' ');
  const { kind, action, subresource, namespace } = requestInfo;
  const resource = subresource && !action ? `${kind.resource}/${subresource}` : kind.resource;
  const scope =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message =
    `${describeUser(caller)} cannot ${requestInfo.verb} resource "${resource}" in ` +
    `API group "${kind.group}" ${scope}: ${why}`;
  if (decision.stepUp && caller.byToken) {
    return withDecision(insufficientAuthentication(message, decision.stepUp), decision);
  }
  return withDecision(
    forbidden(message, kind, requestInfo.name, {
      ...(isOfPage(caller)
        ? refusalDetails(decision)
        : decision.name && { policyDecision: decision.name }),
      ...(decision.stepUp && { methods: decision.stepUp.methods }),
    }),
    decision,
  );
}

/** Returns whether a page may have sent the request: pages choose the language of the message. */
const isOfPage = ({ session, byToken }: Caller): boolean => session !== undefined && !byToken;

/** Attaches the decision to a refusal, for the audit log. */
export function withDecision(error: StatusError, decision: Decision): StatusError {
  error.decision = decision;
  return error;
}

/** Returns the caller for an error message. */
export const describeUser = ({ type, user }: Caller): string =>
  `User "${user ?? type.toLowerCase()}"`;
