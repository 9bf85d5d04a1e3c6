import { errors } from 'oidc-provider';
import { StatusError } from '../../registry/status.js';
import { UnavailableError, UnknownOutcomeError } from '../../storage/storage.js';

/**
 * An error of the library with a status of its own, which its pages and JSON answers then carry.
 */
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

const waiting = 'the service cannot reach its store, try again shortly';
const unsure = 'it is not known whether the change was made';

/**
 * The library's words for what the store or the registry refuses: 503, 504 and 429; anything else
 * as it was.
 */
export function toProviderError(error: unknown): unknown {
  const reason = error instanceof StatusError ? error.reason : undefined;
  if (error instanceof UnavailableError || reason === 'ServiceUnavailable')
    return libraryError(503, 'temporarily_unavailable', waiting);
  if (error instanceof UnknownOutcomeError || reason === 'Timeout')
    return libraryError(504, 'temporarily_unavailable', unsure);
  if (reason === 'TooManyRequests')
    return Object.assign(libraryError(429, 'slow_down', 'too many requests'), {
      retryAfter: (error as StatusError).details?.retryAfterSeconds,
    });
  return error;
}

/** Waits for work on the store inside the library, which knows only its own errors. */
export async function withProviderErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toProviderError(error);
  }
}
