import { useEffect, useState } from 'preact/hooks';
import { until } from './clock.js';

/** Milliseconds until a timestamp, never negative; renders again every second until it is past. */
export function useRemaining(timestamp: string | undefined): number {
  const [, tick] = useState(0);
  const left = timestamp ? Math.max(0, until(timestamp)) : 0;
  const over = left === 0;
  useEffect(() => {
    if (over) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [timestamp, over]);
  return left;
}
