import { userInfo } from '../../registry/caller.js';
import type { Caller, Decision } from '../../registry/kind.js';
import { signInEventOf } from '../../registry/sign-in-event.js';
import { codes } from '../../registry/status/status.js';
import { pathOf } from '../codec/query.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { endpointName } from '../request/provider-paths.js';
import { userAgentOf } from './authorization-attributes.js';

/** The destination of audit events. Writing neither blocks nor throws. */
export interface AuditSink {
  write(event: Readonly<Record<string, unknown>>): void;
}

/** Types of requests that are frequent and identify no one. */
const unauditedTypes = new Set(['health', 'metrics', 'asset', 'page', 'discovery']);

/** Formats a time for audit.k8s.io: RFC 3339 with microseconds. */
const microTime = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, -1)}000Z`;

/** Replaces a mail address in a text for the logs (docs/design/security.md#logs). */
export type Hide = (text: string) => string;

/** What an audit event needs beyond the request. */
interface AuditContext {
  /** The API group, the prefix of annotations. */
  readonly group: string;
  readonly hide: Hide;
}

/**
 * Returns an answered request as an Event of audit.k8s.io/v1 at level Metadata, or undefined for a
 * type of request that is not audited. It has no body, no query and no unknown path, because they
 * may hold secrets.
 */
export function auditEvent(
  req: ApiRequest,
  res: ApiResponse,
  startedAt: number,
  endedAt: number,
  context: AuditContext,
): Record<string, unknown> | undefined {
  const { requestInfo } = req;
  if (requestInfo && unauditedTypes.has(requestInfo.type)) return undefined;
  const reason = Object.entries(codes).find(([, code]) => code === res.statusCode)?.[0];
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: req.auditID,
    stage: 'ResponseComplete',
    requestURI: uriOf(req),
    verb: requestInfo?.type === 'resource' ? requestInfo.verb : req.method.toLowerCase(),
    user: userOf(req.caller, context.hide),
    sourceIPs: [req.network],
    userAgent: userAgentOf(req),
    ...objectRef(req),
    responseStatus: {
      metadata: {},
      ...(res.statusCode >= 400 && { status: 'Failure', ...(reason && { reason }) }),
      code: res.statusCode,
    },
    requestReceivedTimestamp: microTime(startedAt),
    stageTimestamp: microTime(endedAt),
    ...annotations(req, context),
  };
}

/** Returns the path for the log: an endpoint's name for the provider, empty for an unknown path. */
function uriOf({ requestInfo, url }: ApiRequest): string {
  if (!requestInfo) return '';
  if (requestInfo.type === 'provider') return endpointName(requestInfo.path);
  return pathOf(url);
}

function objectRef({ requestInfo }: ApiRequest): { objectRef?: unknown } {
  if (requestInfo?.type !== 'resource') return {};
  const { kind, name, namespace, subresource } = requestInfo;
  return {
    objectRef: {
      resource: kind.resource,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      apiGroup: kind.group,
      apiVersion: kind.version,
      ...(subresource !== undefined && { subresource }),
    },
  };
}

/**
 * Returns the caller as an audit user, never with an address; the extra attributes are omitted, because
 * they may contain anything.
 */
function userOf(caller: Caller | undefined, hide: Hide): Record<string, unknown> {
  if (caller?.type === 'ClusterUser') {
    return { username: hide(caller.user), groups: caller.groups.map(hide) };
  }
  const known = caller && userInfo(caller);
  if (!known) return { username: 'system:anonymous', groups: ['system:unauthenticated'] };
  const { extra: _, ...user } = known;
  return user;
}

/** Returns the annotations about the decision and the sign-in, if there are any. */
function annotations(
  req: ApiRequest,
  context: AuditContext,
): { annotations?: Record<string, string> } {
  const all = { ...decisionAnnotations(req, context), ...signInAnnotations(req, context) };
  return Object.keys(all).length > 0 ? { annotations: all } : {};
}

/** Returns the facts about a sign-in or token request as annotations `<group>/sign-in-…`. */
function signInAnnotations(req: ApiRequest, { group, hide }: AuditContext): Record<string, string> {
  const facts = signInFacts(req, hide) ?? {};
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`${group}/sign-in-${name}`, value]),
  );
}

/**
 * Returns the facts about the sign-in of a request for the logs, with the address as a keyed hash.
 */
export function signInFacts(req: ApiRequest, hide: Hide): Record<string, string> | undefined {
  const event = signInEventOf(req);
  if (!event) return undefined;
  const { address, ...facts } = event;
  const all = { ...facts, ...(address !== undefined && { addressHash: hide(address) }) };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/**
 * Returns the decision, its rules and its PolicyDecision as annotations; empty if nothing was
 * decided.
 */
function decisionAnnotations(
  { authorized, refusal }: ApiRequest,
  { group }: AuditContext,
): Record<string, string> {
  const decision = refusal ?? authorized?.decision;
  if (!decision) return {};
  const name = recordedName(decision);
  return {
    'authorization.k8s.io/decision': decision.allowed ? 'allow' : 'forbid',
    'authorization.k8s.io/reason': decision.reasons.map(({ rule }) => rule).join(', '),
    ...(name && { [`${group}/policy-decision`]: name }),
  };
}

/**
 * Returns the name of the recorded PolicyDecision. Reading `name` of a decision that was not
 * recorded would record it.
 */
const recordedName = (decision: Decision): string | undefined =>
  'written' in decision ? (decision.written as string | undefined) : decision.name;
