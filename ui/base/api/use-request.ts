import { useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { acceptsPasskeyOnly, needsNewSignIn, signIn } from '../passkeys/sign-in.js';
import { currentStep } from '../../console/base/route.js';

/**
 * Leaves for a sign-in that leads back here if the request needs one, or a newer one. Returns
 * whether it does.
 */
export function leavesForSignIn(failure: ApiError): boolean {
  const isNew = needsNewSignIn(failure);
  if (!isNew && failure.code !== 401) return false;
  signIn({
    step: currentStep(),
    ...(isNew && { prompt: true, passkeyOnly: acceptsPasskeyOnly(failure) }),
  });
  return true;
}

/** A request of the person: whether it is pending, and its error. */
export interface Request {
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /** Sends it. Leaves for a sign-in that leads back here if the API requires one. */
  run: (work: () => Promise<void>) => Promise<void>;
  clear: () => void;
}

/** The requests of one view, one at a time. */
export function useRequest(): Request {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (!leavesForSignIn(thrown)) setFailure(thrown);
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, run, clear: () => setFailure(undefined) };
}
