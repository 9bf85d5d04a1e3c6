import type { Status, StatusDetails } from '../api.js';
import { setClock } from './clock.js';

/** Where the API stands; pages call their own origin only. */
export const apiRoot = '/api/v1alpha1';

/** A call that did not succeed: `code` is the HTTP status, or 0 when no answer came. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: Status | undefined;
  /** What an operator finds the request by. */
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

  /** Whether the first field at fault is this one. */
  hasCause(field: string): boolean {
    return this.details.causes?.some((cause) => cause.field?.startsWith(field)) ?? false;
  }
}

const failWithoutResponse = (): never => {
  throw new ApiError(0);
};

/**
 * Sends a request to the API with this browser's cookies; a path is below `root`, '' is `root`
 * itself. Network errors are a Failure with code 0.
 */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await fetch(path ? `${apiRoot}/${path}` : apiRoot, {
    method,
    signal: signal ?? null,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: { Accept: 'application/json', ...(body ? { 'Content-Type': type } : {}) },
    body: body ? JSON.stringify(body) : null,
  }).catch(failWithoutResponse);
  setClock(response.headers.get('Date'));
  return response;
}

/** Calls the API and gives the object it answers; every refusal is a Failure. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  const object: unknown = await response.json().catch(() => undefined);
  if (response.ok && object) return object as T;
  const status = object as Status | undefined;
  throw new ApiError(
    response.ok ? 0 : response.status,
    status?.kind === 'Status' ? status : undefined,
    response.headers.get('Audit-ID') ?? undefined,
  );
}
