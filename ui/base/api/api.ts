import type { Status, StatusDetails } from '../../api.js';
import { setClock } from './clock.js';

/** The root of the API. Pages call their own origin only. */
export const apiRoot = '/api/v1beta1';

/** A failed call. `code` is the HTTP status, or 0 if there was no response. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: Status | undefined;
  /** The ID by which an operator finds the request in the audit log. */
  readonly auditID: string | undefined;

  constructor(code: number, status?: Status, auditID?: string) {
    super(status?.message ?? `HTTP ${code}`);
    this.code = code;
    this.status = status;
    this.auditID = auditID;
  }

  get details(): StatusDetails {
    return this.status?.details ?? {};
  }

  /** Returns whether a cause names a field that starts with `field`. */
  hasCause(field: string): boolean {
    return this.details.causes?.some((cause) => cause.field?.startsWith(field)) ?? false;
  }
}

const failWithoutResponse = (): never => {
  throw new ApiError(0);
};

const addressOf = (path: string): string => {
  if (path.startsWith('/')) return path;
  return path ? `${apiRoot}/${path}` : apiRoot;
};

/** The time zone of this browser: mails tell the time in it. */
const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';

/**
 * Sends a request to the API with this browser's cookies. `path` is relative to `apiRoot` unless it
 * starts with a slash; '' is `apiRoot` itself. Throws an ApiError with code 0 on a network error.
 */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  accept = 'application/json',
): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await fetch(addressOf(path), {
    method,
    signal: signal ?? null,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: { Accept: accept, ...(body ? { 'Content-Type': type, 'Time-Zone': timeZone() } : {}) },
    body: body ? JSON.stringify(body) : null,
  }).catch(failWithoutResponse);
  setClock(response.headers.get('Date'));
  return response;
}

/**
 * Calls the API and returns the object in the response. Throws an ApiError on any other response.
 */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  accept?: string,
): Promise<T> {
  const response = await send(method, path, body, undefined, accept);
  const object: unknown = await response.json().catch(() => undefined);
  if (response.ok && object) return object as T;
  const status = object as Status | undefined;
  throw new ApiError(
    response.ok ? 0 : response.status,
    status?.kind === 'Status' ? status : undefined,
    response.headers.get('Audit-ID') ?? undefined,
  );
}

/** Reads the objects of a short list; none if it cannot be read. */
export const readItems = <T>(path: string): Promise<readonly T[]> =>
  call<{ readonly items: readonly T[] }>('GET', path).then(
    ({ items }) => items,
    () => [],
  );
