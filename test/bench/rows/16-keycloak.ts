import { keycloakServer, keycloakUnhashed } from '../sides/keycloak.js';
import { signInRow } from './sign-in.js';

/** Sign-ins against Keycloak as it is shipped, with a password. */
export const signInKeycloak = signInRow({ id: '16', peer: keycloakServer, gate: 3, stretch: 5 });

/** The same with the cheapest hash of passwords that it has: printed without a gate. */
export const signInKeycloakUnhashed = signInRow({ id: '16x', peer: keycloakUnhashed });
