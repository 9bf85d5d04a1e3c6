import { oidcProvider } from '../sides/servers.js';
import { signInRow } from './sign-in.js';

/** Sign-ins against oidc-provider with a durable store, the same mail and the same exchanges. */
export const signInLibrary = signInRow({ id: '4', peer: oidcProvider, gate: 0.5, stretch: 0.75 });
