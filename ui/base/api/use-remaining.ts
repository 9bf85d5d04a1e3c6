import { useEffect, useState } from 'preact/hooks';
import { remainingMs } from './clock.js';

/**
 * Returns the milliseconds until a timestamp, never negative. Renders again every second until it
 * has passed.
 */
export function useRemaining(timestamp: string | undefined): number {
  const [, tick] = useState(0);
  const leftMs = timestamp ? Math.max(0, remainingMs(timestamp)) : 0;
  const isOver = leftMs === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [timestamp, isOver]);
  return leftMs;
}
