import { hydraServer } from '../sides/hydra-server.js';
import { signInRow } from './sign-in.js';

/** Sign-ins against Ory Hydra with an application for login and consent beside it. */
export const signInHydra = signInRow({ id: '15', peer: hydraServer, gate: 3, stretch: 5 });
