import { useState } from 'preact/hooks';
import { ApiError } from './api.js';

/** A request of the person: whether it is pending, and its error. */
export interface Request {
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /**
   * Sends it unless one is pending. Returns whether it succeeded. A sign-in that the API requires
   * leads back to `step`.
   */
  run: (work: () => Promise<unknown>, step?: string) => Promise<boolean>;
  /** Clears the error. */
  clear: () => void;
}

/** The requests of one view, one at a time. An error for which `handles` returns true is not shown. */
export function useRequest(
  handles: (failure: ApiError, step: string | undefined) => boolean = () => false,
): Request {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const run = async (work: () => Promise<unknown>, step?: string): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setFailure(undefined);
    try {
      await work();
      return true;
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (!handles(thrown, step)) setFailure(thrown);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, run, clear: () => setFailure(undefined) };
}
