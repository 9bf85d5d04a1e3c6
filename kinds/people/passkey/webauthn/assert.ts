/**
 * The reason why a WebAuthn response is refused. It is for audits and tests only; the API returns
 * one message for all reasons.
 */
export class WebAuthnError extends Error {
  override readonly name = 'WebAuthnError';
}

/** Throws a WebAuthnError with `message` unless `condition` is true. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new WebAuthnError(message);
}

/** Returns the result of `read`; throws a WebAuthnError with `message` if it throws anything. */
export function readable<T>(read: () => T, message: string): T {
  try {
    return read();
  } catch {
    throw new WebAuthnError(message);
  }
}
