import { nameOf } from '../../security/keyring.js';

/**
 * The name of the Session object of one library session: the same on every replica, and it tells no
 * id.
 */
export const sessionName = (account: string, uid: string): string => `${account}-${nameOf(uid)}`;
