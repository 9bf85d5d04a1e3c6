import { useEffect, useState } from 'preact/hooks';
import { ApiError } from './api.js';

/** What was read, and the error of the last read. */
export interface Read<T> {
  readonly value?: T;
  readonly failure?: ApiError | undefined;
  /** Reads again. The value and the error stay until there is an answer. */
  readonly reload: () => void;
}

/**
 * Reads at first and when one of `inputs` changes; nothing while there is no `read`. Only the answer
 * to the newest request counts, and a value stays until there is another.
 */
export function useRead<T>(
  read: (() => Promise<T>) | undefined,
  inputs: readonly unknown[],
): Read<T> {
  const [known, set] = useState<Pick<Read<T>, 'value' | 'failure'>>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isNewest = true;
    read?.().then(
      (value) => isNewest && set({ value }),
      (thrown: unknown) => {
        if (!(thrown instanceof ApiError)) throw thrown;
        if (isNewest) set((former) => ({ ...former, failure: thrown }));
      },
    );
    return () => {
      isNewest = false;
    };
  }, [...inputs, turn]);
  return { ...known, reload: () => setTurn((count) => count + 1) };
}
