let skew = 0;

/** Milliseconds since the epoch by the server's clock, as far as its answers have told it. */
export const now = (): number => Date.now() + skew;

/** Sets the clock by the Date header of an answer; anything unreadable changes nothing. */
export function setClock(date: string | null): void {
  const told = Date.parse(date ?? '');
  if (told) skew = told - Date.now();
}

/** Milliseconds until a timestamp of the API; negative once it is past. */
export const until = (timestamp: string): number => Date.parse(timestamp) - now();
