import type { Authorizer } from '../../registry/authorizer.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { Decision } from '../../registry/kind.js';
import { notFound, unauthorized } from '../../registry/status/status.js';
import {
  decideFor,
  ObjectAttributes,
  type ObjectRequestContext,
} from './authorization-attributes.js';
import { forbiddenError, isOwnerLookup, withDecision } from './authorization-errors.js';

/**
 * Returns the recorded refusal, 401, 403 or 404. The record of a caller that may not know the
 * object does not reveal it either.
 */
export function refusalError(
  authorizer: Authorizer,
  context: ObjectRequestContext,
  target: EncodedObject | undefined,
): Error {
  const { requestInfo, caller } = context;
  const record = (visible: EncodedObject | undefined): Decision =>
    decideFor(context, authorizer, new ObjectAttributes(context, visible, requestInfo.name));
  if (caller.type === 'Anonymous') return withDecision(unauthorized(), record(undefined));
  const readContext: ObjectRequestContext = {
    ...context,
    requestInfo: {
      type: 'resource',
      kind: requestInfo.kind,
      view: requestInfo.view,
      verb: 'get',
      name: requestInfo.name,
      ...(requestInfo.namespace !== undefined && { namespace: requestInfo.namespace }),
      query: requestInfo.query,
      representation: requestInfo.representation,
    },
  };
  const canRead =
    target &&
    authorizer.decideQuietly(new ObjectAttributes(readContext, target, requestInfo.name)).allowed;
  const decision = record(canRead ? target : undefined);
  return canRead || isOwnerLookup(context)
    ? forbiddenError(requestInfo, caller, decision)
    : withDecision(notFound(requestInfo.kind, requestInfo.name), decision);
}
