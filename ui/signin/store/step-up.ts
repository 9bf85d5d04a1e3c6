import type { MessageID } from '../../messages/catalog.js';
import stepup from '../../messages/en/stepup.json';

/*
 * Imports only types of ours. A chunk that shares code with the first view would have that code
 * split off, and the first view would load one more file.
 */

/** Why a session is not enough, by reason. */
export const messages = stepup;

type Reason =
  | 'AcrRequested'
  | 'NewSignInRequested'
  | 'Policy'
  | 'DeviceConnection'
  | 'AccountChange';

/**
 * Returns why a session is not enough, or without a reason why only a passkey is accepted. `isOwn`:
 * the sign-in is to the account page.
 */
export function reasonMessage(isOwn: boolean, reason?: Reason): MessageID {
  if (isOwn && reason === 'NewSignInRequested') return 'stepup.own';
  return `stepup.${isOwn && reason === 'AcrRequested' ? 'AccountChange' : (reason ?? 'Passkey')}`;
}

/**
 * Returns the way for who cannot use the passkey that is required, a sign-in to the account page by
 * any method: to report it lost, or to add a first one.
 */
export function withoutPasskey(isOwn: boolean): { href: string; id: MessageID } {
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/account`,
    prompt: 'login',
    state: isOwn ? 'recover' : 'passkey-add',
  });
  return { href: `/oauth2/auth?${query}`, id: isOwn ? 'email.lost' : 'email.add' };
}
