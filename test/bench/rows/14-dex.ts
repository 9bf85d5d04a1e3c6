import { dexServer, dexUnhashed } from '../sides/dex.js';
import { signInRow } from './sign-in.js';

/** Sign-ins against Dex as it is shipped, with a password. */
export const signInDex = signInRow({ id: '14', peer: dexServer, gate: 3, stretch: 5 });

/** The same without the hash of the password, as if Dex had codes: printed without a gate. */
export const signInDexUnhashed = signInRow({ id: '14x', peer: dexUnhashed });
