import { betterAuth } from '../sides/betterauth-server.js';
import { signInRow } from './sign-in.js';

/** Sign-ins against better-auth as an OpenID provider on durable SQLite. */
export const signInBetterAuth = signInRow({ id: '5', peer: betterAuth, gate: 1.0, stretch: 1.5 });
