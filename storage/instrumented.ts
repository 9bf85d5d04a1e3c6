import { UnknownOutcomeError, type Committed, type Lost, type StorageMetrics } from './storage.js';

type Result = Committed | Lost;
interface Settle {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** What settles a commit, telling the witness, where there is one, how it ended. */
export function instrumented(
  witness: StorageMetrics | undefined,
  { resolve, reject }: Settle,
): Settle {
  if (!witness) return { resolve, reject };
  return {
    resolve(result) {
      witness.commit(result.committed ? 'ok' : 'lost');
      resolve(result);
    },
    reject(error) {
      witness.commit(error instanceof UnknownOutcomeError ? 'unknown' : 'refused');
      reject(error);
    },
  };
}
