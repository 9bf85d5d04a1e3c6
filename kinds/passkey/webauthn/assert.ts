/**
 * Why an authenticator's answer is not accepted: for audits and tests alone, people are told one
 * sentence for all of them.
 */
export class WebAuthnError extends Error {
  override readonly name = 'WebAuthnError';
}

/** Throws a WebAuthnError unless it holds. */
export function assert(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new WebAuthnError(otherwise);
}

/** Returns what `read` does; a WebAuthnError stands for whatever it throws of hostile bytes. */
export function readable<T>(read: () => T, otherwise: string): T {
  try {
    return read();
  } catch {
    throw new WebAuthnError(otherwise);
  }
}
