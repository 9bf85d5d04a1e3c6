import type { ApiError } from '../api/api.js';

/**
 * Leaves for a sign-in that returns to this page. `step` names where to continue; it travels as
 * `state`, so nothing has to be stored. `prompt` asks even if someone is signed in, and
 * `passkeyOnly` accepts nothing but a passkey.
 */
export function signIn({
  step,
  prompt,
  passkeyOnly,
}: {
  step?: string | undefined;
  prompt?: boolean;
  passkeyOnly?: boolean;
} = {}): void {
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/${location.pathname.split('/')[1]}`,
    ...(step && { state: step }),
    ...(prompt && { prompt: 'login' }),
    ...(passkeyOnly && { vestibule_method: 'Passkey' }),
  });
  location.assign(`/oauth2/auth?${query}`);
}

/** Returns whether the API requires a newer sign-in (403 with that cause). */
export const needsNewSignIn = ({ code, details }: ApiError): boolean =>
  code === 403 &&
  Boolean(details.causes?.some(({ reason }) => reason === 'ReauthenticationRequired'));

/** Returns whether that sign-in must use a passkey. */
export const acceptsPasskeyOnly = ({ details: { methods } }: ApiError): boolean =>
  methods?.length === 1 && methods[0] === 'Passkey';
