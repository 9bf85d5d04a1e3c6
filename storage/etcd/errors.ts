import { UnavailableError, UnknownOutcomeError } from '../storage.js';

/**
 * What a failed call means: `unsent` and `refused` wrote nothing, `unsent` may be repeated
 * elsewhere; `unknown` may have written.
 */
type FailureKind =
  | 'unsent'
  | 'refused'
  | 'full'
  | 'lease'
  | 'oversize'
  | 'compacted'
  | 'future'
  | 'unknown';

/** A call to etcd that failed, sorted by what it means. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly kind: FailureKind;
  constructor(kind: FailureKind, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kind;
  }
}

const rules: readonly (readonly [RegExp, FailureKind])[] = [
  [/database space exceeded/, 'full'],
  [/requested lease not found/, 'lease'],
  [/required revision has been compacted/, 'compacted'],
  [/required revision is a future revision/, 'future'],
  [
    /No connection established|Channel closed before call started|Name resolution failed|Waiting for LB pick/,
    'unsent',
  ],
  [
    /etcdserver: (no leader|too many requests|not leader|user name is empty|invalid auth token)/,
    'unsent',
  ],
  [/Received message larger than max/, 'oversize'],
  [/^(3|5|6|7|9|11|12|16) /, 'refused'],
  [/grpc: received message larger than max/, 'refused'],
];

/** Sorts an error of etcd3 or grpc by its message, which begins with the status code. */
export function etcdErrorOf(error: unknown): EtcdError {
  if (error instanceof EtcdError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const rule = rules.find(([pattern]) => pattern.test(message));
  return new EtcdError(rule ? rule[1] : 'unknown', error);
}

/** Whether another member, or the same one later, may answer a read that failed so. */
export const isTransient = ({ kind }: EtcdError): boolean =>
  kind === 'unsent' || kind === 'unknown';

/** The contract's error for a failed read, or for a commit that certainly wrote nothing. */
export function unavailable(failure: EtcdError): UnavailableError {
  const full = failure.kind === 'full';
  return new UnavailableError(full ? 'etcd has no space left' : 'etcd did not answer', {
    full,
    cause: failure,
  });
}

/** The contract's error for a commit whose outcome could not be learnt. */
export const unknown = (failure: EtcdError): UnknownOutcomeError =>
  new UnknownOutcomeError('the outcome of a commit could not be learnt from etcd', {
    cause: failure,
  });
