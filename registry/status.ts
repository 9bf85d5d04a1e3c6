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
  | 'InternalError'
  | 'ResourceVersionTooLarge'
  | 'ReauthenticationRequired';

export interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  /** Whole seconds; sent as Retry-After too. */
  readonly retryAfterSeconds?: number;
  /** The number of wrong codes that are left. */
  readonly triesLeft?: number;
  /** The sign-in methods that suffice, if a newer sign-in is needed. */
  readonly methods?: readonly string[];
  readonly policyDecision?: string;
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

/** A policy decision, as responses and the audit log show it. */
export interface DecisionSummary {
  readonly allowed: boolean;
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  /** The name of the recorded PolicyDecision, if one was made. */
  readonly name?: string;
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

/** What error messages need of a kind. */
export interface Named {
  readonly kind: string;
  readonly resource: string;
  readonly group: string;
}

const qualified = (of: Named): string => `${of.resource}.${of.group}`;

/** 400: the request cannot be read as it stands. */
export const badRequest = (message: string, causes?: readonly Cause[]): StatusError =>
  new StatusError('BadRequest', message, causes && { causes });

/** 401: a credential is needed and there is none, or the one given is not good. */
export const unauthorized = (): StatusError =>
  new StatusError('Unauthorized', 'Unauthorized', undefined, { 'WWW-Authenticate': 'Bearer' });

/** 403: the caller may know of it but not do this; `why` is a sentence for people. */
export const forbidden = (
  why: string,
  of?: Named,
  name?: string,
  more: Details = {},
): StatusError =>
  new StatusError(
    'Forbidden',
    of ? `${qualified(of)}${name ? ` "${name}"` : ''} is forbidden: ${why}` : why,
    { ...(name && { name }), ...(of && { group: of.group, kind: of.resource }), ...more },
  );

/** 404 for an object: absent and not yours to know are the same bytes. */
export const notFound = (of: Named, name: string): StatusError =>
  new StatusError('NotFound', `${qualified(of)} "${name}" not found`, {
    name,
    group: of.group,
    kind: of.resource,
  });

/** 404 for a path that leads nowhere. */
export const noSuchPath = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', {});

/** 405 with the methods that are allowed. */
export const methodNotAllowed = (
  verb: string,
  of: Named | undefined,
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

/** 409: the name or a unique value is taken; `field` names the value. */
export const alreadyExists = (of: Named, name: string, field?: string): StatusError =>
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

/** 409: every name that was tried for a generateName is taken; another may be free. */
export const noFreeName = (of: Named, name: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${qualified(of)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    { name, group: of.group, kind: of.resource, retryAfterSeconds: 1 },
  );

/** 409: the object moved on, or is in a phase in which this cannot be done. */
export const conflict = (of: Named, name: string, why: string): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`,
    { name, group: of.group, kind: of.resource },
  );

/** 409 for a resourceVersion that is no longer the object's. */
export const staleVersion = (of: Named, name: string): StatusError =>
  conflict(
    of,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

/** 410: a proof, an interaction or a piece of history is over. */
export const expired = (why: string, of?: Named, name?: string): StatusError =>
  new StatusError(
    'Expired',
    why,
    of && { ...(name && { name }), group: of.group, kind: of.resource },
  );

/** 413: the body is over `most` bytes. */
export const tooLarge = (max: number): StatusError =>
  new StatusError(
    'RequestEntityTooLarge',
    `the request body is over the limit of ${max} bytes`,
    undefined,
    { Connection: 'close' },
  );

/** 415 naming what would be accepted. */
export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** 422 with a cause for each invalid field. */
export function invalid(
  of: Named,
  name: string,
  causes: readonly Cause[],
  more: Details = {},
): StatusError {
  const told = causes.map((cause) =>
    cause.field ? `${cause.field}: ${cause.message}` : cause.message,
  );
  return new StatusError(
    'Invalid',
    `${of.kind}.${of.group} "${name}" is invalid: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}`,
    { name, group: of.group, kind: of.kind, causes, ...more },
  );
}

/** 429: wait so many whole seconds. */
export const tooManyRequests = (
  retryAfterSeconds: number,
  why = 'too many requests, please try again later',
): StatusError => new StatusError('TooManyRequests', why, { retryAfterSeconds });

/** 503: nothing was written, a blind repeat is right. */
export const unavailable = (why: string, retryAfterSeconds = 1): StatusError =>
  new StatusError('ServiceUnavailable', why, { retryAfterSeconds });

/** 504: it is not known whether the write happened, so no Retry-After. */
export const timeout = (why: string, causes?: readonly Cause[]): StatusError =>
  new StatusError('Timeout', why, causes && { causes });

/** 500: nothing about the fault leaves the server. */
export const internalError = (): StatusError =>
  new StatusError('InternalError', 'Internal error occurred: see the audit ID of this answer');
