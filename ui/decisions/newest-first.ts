import type { PolicyDecision } from '../api.js';

/** Sorts decisions by when they were last made. */
export const newestFirst = (decisions: readonly PolicyDecision[]): PolicyDecision[] =>
  [...decisions].sort(
    (a, b) =>
      b.status.lastTimestamp.localeCompare(a.status.lastTimestamp) ||
      Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
  );
