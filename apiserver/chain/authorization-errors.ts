import { whyRefused } from '../../registry/authorizer.js';
import type { Caller, Decision } from '../../registry/kind.js';
import { forbidden, StatusError, unauthorized } from '../../registry/status.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import type { AuthorizationRequestContext } from './authorization-attributes.js';

/**
 * Whether that is how a cluster's garbage collector looks an owner up: told that it is not there,
 * it deletes what the owner has in the cluster. So it is 403, of what is there and of what is not
 * (docs/design/kubernetes.md#garbage-collector).
 */
export const sweeps = ({ requestInfo, caller }: AuthorizationRequestContext): boolean =>
  caller.type === 'ClusterUser' && requestInfo.verb === 'get' && requestInfo.view.metadataOnly;

export function refused(
  requestInfo: ResourceRequestInfo,
  caller: Caller,
  decision: Decision,
): Error {
  if (caller.type === 'Anonymous') return because(unauthorized(), decision);
  return because(
    forbidden(
      `${whoIs(caller)} cannot ${requestInfo.verb} resource "${requestInfo.kind.resource}" in ` +
        `API group "${requestInfo.kind.group}" at the cluster scope: ${whyRefused(decision)}`,
      requestInfo.kind,
      requestInfo.name,
      { ...(decision.name && { policyDecision: decision.name }) },
    ),
    decision,
  );
}

/** A refusal with the decision behind it, for the audit log. */
export function because(error: StatusError, decision: Decision): StatusError {
  error.decision = decision;
  return error;
}

/** How messages name a caller. */
export const whoIs = (caller: Caller): string => `User "${userName(caller)}"`;

export function userName(caller: Caller): string {
  if (caller.type === 'Account') return caller.account;
  return caller.type === 'ClusterUser' ? caller.user : caller.type.toLowerCase();
}
