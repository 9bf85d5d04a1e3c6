import { errors } from 'oidc-provider';
import type { Awaitable } from '../../registry/kind.js';
import { StatusError } from '../../registry/status/status.js';
import { UnavailableError, UnknownOutcomeError } from '../../storage/storage.js';

/** Returns an oidc-provider error with its own status, which its pages and JSON responses use. */
export function libraryError(
  status: number,
  code: string,
  description: string,
): errors.OIDCProviderError {
  const error = new errors.OIDCProviderError(status, code);
  return Object.assign(error, {
    error_description: description,
    expose: true,
    allow_redirect: false,
  });
}

const unavailableMessage = 'the service cannot reach its store; try again shortly';
const unknownOutcomeMessage = 'it is not known whether the change was made';

/**
 * Returns the oidc-provider error for an error of storage or registry: 503, 504 or 429. Returns any
 * other error unchanged.
 */
export function toProviderError(error: unknown): unknown {
  const { reason, details } = error instanceof StatusError ? error : {};
  if (error instanceof UnavailableError || reason === 'ServiceUnavailable') {
    return libraryError(503, 'temporarily_unavailable', unavailableMessage);
  }
  if (error instanceof UnknownOutcomeError || reason === 'Timeout') {
    return libraryError(504, 'temporarily_unavailable', unknownOutcomeMessage);
  }
  if (reason === 'TooManyRequests') {
    return Object.assign(libraryError(429, 'slow_down', 'too many requests'), {
      retryAfter: details?.retryAfterSeconds,
    });
  }
  return error;
}

/** Returns after how many seconds a request that was refused with 429 may be sent again. */
export const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'
    ? error.retryAfter
    : undefined;

/** Awaits work on the store and throws its errors as oidc-provider errors. */
export async function withProviderErrors<T>(work: Awaitable<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toProviderError(error);
  }
}
