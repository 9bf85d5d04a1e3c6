import { type Committed, type Lost, type StorageMetrics, UnknownOutcomeError } from './storage.js';

/** Counts the result of a commit if metrics are enabled; returns the same promise. */
export function countCommit(
  metrics: StorageMetrics | undefined,
  commit: Promise<Committed | Lost>,
): Promise<Committed | Lost> {
  if (metrics) {
    commit.then(
      ({ committed }) => metrics.commits.inc({ result: committed ? 'ok' : 'lost' }),
      (error) =>
        metrics.commits.inc({
          result: error instanceof UnknownOutcomeError ? 'unknown' : 'refused',
        }),
    );
  }
  return commit;
}
