/** An invalid field or another named reason (Kubernetes API conventions, StatusCause). */
export interface Cause {
  readonly reason: CauseReason;
  readonly message: string;
  /** A path such as `spec.scopes[0].name`. */
  readonly field?: string;
}

export type CauseReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldManagerConflict'
  | 'InternalError'
  | 'ResourceVersionTooLarge'
  | 'ReauthenticationRequired';

export interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  /** How long to wait before another try, as in the header Retry-After. */
  readonly retryAfterSeconds?: number;
  /** The number of tries that are left after a wrong code. */
  readonly triesLeft?: number;
  /** The sign-in methods that suffice, if another sign-in is what is missing. */
  readonly methods?: readonly string[];
  /** The name of the PolicyDecision that refused. */
  readonly policyDecision?: string;
  /** The message of the rule in other languages, by language tag (BCP 47), for pages. */
  readonly messages?: Readonly<Record<string, string>>;
}

/** The reasons of this API, with their HTTP status. */
export const codes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestTimeout: 408,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  RequestHeaderFieldsTooLarge: 431,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type Reason = keyof typeof codes;

/** The Status object of an error response (docs/design/api.md#errors). */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Record<string, never>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: Reason;
  readonly details?: Details;
  readonly code: number;
}

/** A rule that determined a decision, with its message to people. */
export interface DecisionReason {
  readonly rule: string;
  readonly message: string;
  /** The message in other languages, by language tag (BCP 47). */
  readonly messages?: Readonly<Record<string, string>> | undefined;
}

/** A policy decision, as responses and the audit log show it. */
export interface DecisionSummary {
  readonly allowed: boolean;
  readonly reasons: readonly DecisionReason[];
  /** The name of the recorded PolicyDecision, if one was made. */
  readonly name?: string;
  /** For clients without pages: how a refused request would be permitted, as a sentence. */
  readonly hint?: string;
  /** For a caller who signed in: the sign-in with which alone a refused request would be permitted. */
  readonly stepUp?: StepUp;
  /** The Groups that alone would permit it, if the request asked for them (`explain`). */
  readonly groups?: readonly string[];
}

/** A sign-in that would permit a refused request (RFC 9470 §3). */
export interface StepUp {
  /** The acr that it must satisfy; any if absent. */
  readonly acr?: string;
  /** The sign-in methods that suffice. */
  readonly methods: readonly string[];
}

/** An error for the caller; any other exception is a 500 without detail. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly reason: Reason;
  readonly details: Details | undefined;
  /** Response headers, for example `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decision of a policy refusal; not in the response. */
  decision?: DecisionSummary;
  /** Whether its fields are called as in the request already, such as unknown ones. */
  hasFieldsAsSent = false;

  constructor(
    reason: Reason,
    message: string,
    details?: Details,
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.reason = reason;
    this.details = details;
    this.headers = headers;
  }

  get code(): number {
    return codes[this.reason];
  }

  /** Returns the error with fields as `nameOf` names their paths: as another version has them. */
  withFields(nameOf: (path: string) => string): StatusError {
    const { reason, details, headers, decision } = this;
    const renamed = details?.causes?.filter(({ field }) => field && nameOf(field) !== field) ?? [];
    if (renamed.length === 0) return this;
    const rename = (text: string, { field }: Cause) => text.replaceAll(field!, nameOf(field!));
    const message = renamed.reduce(rename, this.message);
    const causes = details!.causes!.map((cause) =>
      cause.field ? { ...cause, field: nameOf(cause.field) } : cause,
    );
    const error = new StatusError(reason, message, { ...details, causes }, { ...headers });
    return Object.assign(error, decision && { decision });
  }

  /** Returns the Status object. */
  toStatus(): Status {
    const { reason, message, details, code } = this;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    };
  }
}

/** The names of a kind that error messages contain. */
export interface KindNames {
  readonly kind: string;
  readonly resource: string;
  readonly group: string;
}

const qualified = ({ resource, group }: KindNames): string =>
  group === '' ? resource : `${resource}.${group}`;

/** 400: the request is malformed. */
export const badRequest = (message: string, causes?: readonly Cause[]): StatusError =>
  new StatusError('BadRequest', message, causes && { causes });

/** 401: the credential is missing or invalid. */
export const unauthorized = (): StatusError =>
  new StatusError('Unauthorized', 'Unauthorized', undefined, { 'WWW-Authenticate': 'Bearer' });

/**
 * 401: the credential is valid, but the sign-in behind it is too weak or too old (RFC 9470 §3). `why`
 * is a sentence.
 */
export const insufficientAuthentication = (
  why: string,
  { acr }: Pick<StepUp, 'acr'>,
): StatusError =>
  new StatusError('Unauthorized', why, undefined, {
    'WWW-Authenticate':
      'Bearer error="insufficient_user_authentication", ' +
      'error_description="The policy permits this after another sign-in."' +
      `${acr === undefined ? '' : `, acr_values="${acr}"`}, max_age="0"`,
  });

/** 403: the caller may know of the object but not do this; `why` is a sentence. */
export const forbidden = (
  why: string,
  of?: KindNames,
  name?: string,
  more: Details = {},
): StatusError =>
  new StatusError(
    'Forbidden',
    of ? `${qualified(of)}${name ? ` "${name}"` : ''} is forbidden: ${why}` : why,
    { ...(name && { name }), ...(of && { group: of.group, kind: of.resource }), ...more },
  );

/** 404 for an object. An absent and a hidden object have the same response. */
export const notFound = (of: KindNames, name: string): StatusError =>
  new StatusError('NotFound', `${qualified(of)} "${name}" not found`, {
    name,
    group: of.group,
    kind: of.resource,
  });

/** 404 for a path that does not exist. */
export const noSuchPath = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', {});

/** 405 with the methods that are allowed. */
export const methodNotAllowed = (
  verb: string,
  of: KindNames | undefined,
  allow: readonly string[],
): StatusError =>
  new StatusError(
    'MethodNotAllowed',
    of
      ? `${verb} is not supported on resources of kind "${qualified(of)}"`
      : `${verb} is not supported here`,
    of && { group: of.group, kind: of.resource },
    { Allow: allow.join(', ') },
  );

/** 406: none of the representations the caller accepts can be served. */
export const notAcceptable = (served: readonly string[]): StatusError =>
  new StatusError(
    'NotAcceptable',
    `only the following media types are served: ${served.join(', ')}`,
  );

/** 409: the name is taken, or the unique value of `field`. */
export const alreadyExists = (of: KindNames, name: string, field?: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    field
      ? `${qualified(of)}: the value of ${field} is taken`
      : `${qualified(of)} "${name}" already exists`,
    {
      name,
      group: of.group,
      kind: of.resource,
      ...(field && {
        causes: [{ reason: 'FieldValueDuplicate', message: 'Duplicate value', field }],
      }),
    },
  );

/** 409: no free name was found for a generateName; a retry may find one. */
export const noFreeName = (of: KindNames, name: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${qualified(of)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    { name, group: of.group, kind: of.resource, retryAfterSeconds: 1 },
  );

/** 409: the object has changed, or is in a phase that does not allow this. */
export const conflict = (of: KindNames, name: string, why: string): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`,
    { name, group: of.group, kind: of.resource },
  );

/** 409: the resourceVersion is not the current one. */
export const staleVersion = (of: KindNames, name: string): StatusError =>
  conflict(
    of,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

/** 409: an apply would change fields that others own; a cause names each with its manager. */
export function applyConflict(
  of: KindNames,
  name: string,
  causes: readonly (Cause & { readonly by: string })[],
): StatusError {
  const [first] = causes;
  const lists = [...new Set(causes.map(({ by }) => by))].map(
    (by) =>
      `conflicts with ${by}:\n${causes
        .filter((cause) => cause.by === by)
        .map(({ field }) => `- ${field}`)
        .join('\n')}`,
  );
  return new StatusError(
    'Conflict',
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first!.by}: ${first!.field}`
      : `Apply failed with ${causes.length} conflicts: ${lists.join('\n')}`,
    {
      name,
      group: of.group,
      kind: of.resource,
      causes: causes.map(({ reason, message, field }) => ({
        reason,
        message,
        ...(field && { field }),
      })),
    },
  );
}

/** 410: a proof, an interaction or a resourceVersion has expired. */
export const expired = (
  why: string,
  of?: KindNames,
  name?: string,
  details?: Partial<Details>,
): StatusError =>
  new StatusError(
    'Expired',
    why,
    of && { ...(name && { name }), group: of.group, kind: of.resource, ...details },
  );

/** 413: the body is over `max` bytes. */
export const tooLarge = (max: number): StatusError =>
  new StatusError(
    'RequestEntityTooLarge',
    `the request body is over the limit of ${max} bytes`,
    undefined,
    { Connection: 'close' },
  );

/**
 * 415, with the accepted media types: in the message, and in `Accept-Patch` for a PATCH (RFC 5789
 * §2.2) or in `Accept` (RFC 9110 §15.5.16).
 */
export const unsupportedMediaType = (
  accepted: readonly string[],
  header: 'Accept' | 'Accept-Patch',
): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    undefined,
    { [header]: accepted.join(', ') },
  );

/** 415 for a body with a content coding (RFC 9110 §15.5.16). */
export const unsupportedEncoding = (): StatusError =>
  new StatusError('UnsupportedMediaType', 'encoded bodies are not accepted', undefined, {
    'Accept-Encoding': 'identity',
  });

/** 422 with a cause for each invalid field. */
export function invalid(
  of: KindNames,
  name: string,
  causes: readonly Cause[],
  more: Details = {},
): StatusError {
  const messages = causes.map((cause) =>
    cause.field ? `${cause.field}: ${cause.message}` : cause.message,
  );
  return new StatusError(
    'Invalid',
    `${of.kind}.${of.group} "${name}" is invalid: ${messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`}`,
    { name, group: of.group, kind: of.kind, causes, ...more },
  );
}

/** 429, to be retried after whole seconds. */
export const tooManyRequests = (
  retryAfterSeconds: number,
  why = 'too many requests, please try again later',
): StatusError => new StatusError('TooManyRequests', why, { retryAfterSeconds });

/** 429, to be retried at `until`, in milliseconds since the epoch. */
export const tooManyRequestsUntil = (until: number, now: number, why: string): StatusError =>
  tooManyRequests(Math.max(1, Math.ceil((until - now) / 1000)), why);

/** 503: nothing was written, so the request can be repeated. */
export const unavailable = (why: string, retryAfterSeconds = 1): StatusError =>
  new StatusError('ServiceUnavailable', why, { retryAfterSeconds });

/** 504: the outcome of the write is unknown, so there is no Retry-After. */
export const timeout = (why: string, causes?: readonly Cause[]): StatusError =>
  new StatusError('Timeout', why, causes && { causes });

/** 500, without details of the error. */
export const internalError = (): StatusError =>
  new StatusError('InternalError', 'Internal error occurred: see the audit ID of this answer');
