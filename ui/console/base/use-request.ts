import { useEffect } from 'preact/hooks';
import type { ApiError } from '../../base/api/api.js';
import { acceptsPasskeyOnly, needsNewSignIn, signIn } from '../../base/passkeys/sign-in.js';
import { useRequest as useRequestOfPage, type Request } from '../../base/api/use-request.js';
import { currentStep } from './route.js';

/**
 * Leaves for a sign-in that leads back here if the request needs one, or a newer one. Returns
 * whether it does.
 */
function leavesForSignIn(failure: ApiError): boolean {
  const isNew = needsNewSignIn(failure);
  if (!isNew && failure.code !== 401) return false;
  signIn({
    step: currentStep(),
    ...(isNew && { prompt: true, passkeyOnly: acceptsPasskeyOnly(failure) }),
  });
  return true;
}

/** Leaves for a sign-in if what a view reads needs one. */
export const useSignInFor = (failure: ApiError | undefined): void =>
  useEffect(() => {
    if (failure) leavesForSignIn(failure);
  }, [failure]);

/** The requests of one view, which leave for a sign-in if the API requires one. */
export const useRequest = (): Request => useRequestOfPage(leavesForSignIn);
