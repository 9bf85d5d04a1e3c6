let skew = 0;

/** Milliseconds since the epoch by the server's clock, as far as its answers have told it. */
export const now = (): number => Date.now() + skew;

/** Sets the clock by the Date header of an answer; anything unreadable changes nothing. */
export function setClock(date: string | null): void {
  const parsed = Date.parse(date ?? '');
  if (parsed) skew = parsed - Date.now();
}

/** Milliseconds until a timestamp of the API; negative once it is past. */
export const remainingMs = (timestamp: string): number => Date.parse(timestamp) - now();

/**
 * Of what `until` answers for a timestamp that was rounded up to a whole second, as much as surely
 * has to be waited: the clock is set by one rounded down, so up to a second of it is no wait.
 */
export const certainWaitMs = (left: number): number => Math.max(0, left - 1_000);
