import { UnavailableError, UnknownOutcomeError } from '../storage.js';

/**
 * The meaning of a failed call: `unsent` and `refused` wrote nothing, `unsent` may be retried on
 * another member, `unknown` may have written.
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

/** A call to etcd that failed, classified by its meaning. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly kind: FailureKind;
  /**
   * What etcd says is wrong with this client's certificate or rights, or said in the call before;
   * undefined if it is silent.
   */
  refusal: string | undefined;
  constructor(kind: FailureKind, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kind;
    this.refusal = refusalPattern.exec(this.message)?.[0].replace(/^etcdserver: /, '');
  }
}

/** Answers that are about who this client is: of etcd's authentication, and alerts of TLS. */
const refusalPattern = new RegExp(
  [
    'etcdserver: (user name is empty|(user|role) name not found|authentication failed)',
    'etcdserver: (authentication is not enabled|permission denied|invalid auth token)',
    'etcdserver: revision of auth store is old',
    'alert (bad|unsupported|unknown|expired|revoked|access|certificate)[a-z ]{0,24}',
  ].join('|'),
);

const errorPatterns: readonly (readonly [RegExp, FailureKind])[] = [
  [/database space exceeded/, 'full'],
  [refusalPattern, 'unsent'],
  [/sign-in to etcd failed/, 'unsent'],
  [/requested lease not found/, 'lease'],
  [/required revision has been compacted/, 'compacted'],
  [/required revision is a future revision/, 'future'],
  [
    /No connection established|Channel closed before call started|Name resolution failed|Waiting for LB pick/,
    'unsent',
  ],
  [/etcdserver: (no leader|too many requests|not leader|invalid auth token)/, 'unsent'],
  [/Received message larger than max/, 'oversize'],
  [/^(3|5|6|7|9|11|12|16) /, 'refused'],
  [/grpc: received message larger than max/, 'refused'],
];

/** Classifies an error of etcd3 or gRPC by its message, which starts with the status code. */
export function etcdErrorOf(error: unknown): EtcdError {
  if (error instanceof EtcdError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const match = errorPatterns.find(([pattern]) => pattern.test(message));
  return new EtcdError(match ? match[1] : 'unknown', error);
}

/** Returns whether a failed read may succeed on another member or later. */
export const isTransient = ({ kind }: EtcdError): boolean =>
  kind === 'unsent' || kind === 'unknown';

/** Returns the storage error for a failed read, or for a commit that certainly wrote nothing. */
export function toUnavailableError(etcdError: EtcdError): UnavailableError {
  return new UnavailableError(unavailableReason(etcdError), {
    full: etcdError.kind === 'full',
    cause: etcdError,
  });
}

function unavailableReason({ kind, refusal }: EtcdError): string {
  if (kind === 'full') return 'etcd has no space left';
  return refusal === undefined ? 'etcd did not answer' : refusalMessage(refusal);
}

/** Returns a sentence about a refusal of etcd. */
export const refusalMessage = (refusal: string): string =>
  refusal === 'user name is empty'
    ? `etcd refused this client (${refusal}): check --etcd-username and --etcd-password, or ` +
      '--etcd-certfile; without the former, the common name of the client certificate is the user'
    : `etcd refused this client (${refusal}): check --etcd-username, --etcd-password and ` +
      '--etcd-certfile, and what the user may do in etcd';

/** Returns the storage error for a commit whose outcome is unknown. */
export const toUnknownOutcomeError = (etcdError: EtcdError): UnknownOutcomeError =>
  new UnknownOutcomeError('the outcome of the commit in etcd is unknown', {
    cause: etcdError,
  });
