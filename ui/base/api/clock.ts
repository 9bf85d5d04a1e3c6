let skew = 0;

/** Milliseconds since the epoch by the server's clock, as its last response gave it. */
export const now = (): number => Date.now() + skew;

/** Sets the clock from the Date header of a response. Ignores an unreadable one. */
export function setClock(date: string | null): void {
  const parsed = Date.parse(date ?? '');
  if (parsed) skew = parsed - Date.now();
}

/** Milliseconds until a timestamp of the API; negative if it is in the past. */
export const remainingMs = (timestamp: string): number => Date.parse(timestamp) - now();

/**
 * The part of a wait that is certain. The Date header is rounded down and the timestamp up to a
 * whole second, so up to a second of `left` may be no wait.
 */
export const certainWaitMs = (left: number): number => Math.max(0, left - 1_000);
