import type { PolicyDecision } from '../api.js';

/** Sorts decisions by when they were last made. */
export const newestFirst = (all: readonly PolicyDecision[]): PolicyDecision[] =>
  [...all].sort(
    (a, b) =>
      b.status.lastTimestamp.localeCompare(a.status.lastTimestamp) ||
      Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
  );
