import { nameOf } from '../../security/keyring.js';

/**
 * Returns the name of the Session object of a library session. It is the same on every replica and
 * does not reveal the uid.
 */
export const sessionName = (account: string, uid: string): string => `${account}-${nameOf(uid)}`;
