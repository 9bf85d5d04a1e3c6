import { type EventContent, type EventSubject, eventKey } from '../../registry/event-source.js';

/** The parts of a PolicyDecision that an event is made from. */
interface RecordedDecision {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly principal: string;
    readonly action: string;
    readonly resource?: { readonly kind: string; readonly name?: string | undefined } | undefined;
    readonly scope?: string | undefined;
    readonly client?: string | undefined;
  };
  readonly status: {
    readonly allowed: boolean;
    readonly reasons: readonly { readonly rule: string; readonly message: string }[];
    readonly count: number;
    readonly firstTimestamp: string;
    readonly lastTimestamp: string;
  };
}

/** Returns the object that a refusal is about: for a scope, the Client. Undefined if permitted. */
export function refusalSubject({ spec, status }: RecordedDecision): EventSubject | undefined {
  const { resource, scope, client } = spec;
  if (status.allowed || resource?.kind === 'Path') return undefined;
  if (resource?.name !== undefined) return { kind: resource.kind, name: resource.name };
  return scope !== undefined && client !== undefined ? { kind: 'Client', name: client } : undefined;
}

/**
 * Returns the key under which a refusal is found as an event, the newest first; undefined if it is
 * none.
 */
export function refusalKey(decision: RecordedDecision): string | undefined {
  const subject = refusalSubject(decision);
  const { name } = decision.metadata;
  return subject && eventKey(subject, name.slice(name.indexOf('-') + 1));
}

/** Returns what the event of a refusal says. */
export function refusalContent({ spec, status }: RecordedDecision): EventContent {
  const what = spec.scope === undefined ? spec.action : `${spec.action} ${spec.scope}`;
  const reasons = status.reasons.map(({ rule, message }) => `${message} (${rule})`).join(' ');
  return {
    reason: 'Refused',
    message: `${spec.principal} may not ${what}: ${reasons}`,
    type: 'Warning',
    count: status.count,
    firstTimestamp: status.firstTimestamp,
    lastTimestamp: status.lastTimestamp,
  };
}
