import { vestibule, vestibuleWithShadow } from '../sides/servers.js';
import { signInRow } from './sign-in.js';

/** Sign-ins while a policy in mode Shadow is compared, against the service without one. */
export const signInWithShadow = signInRow({
  id: '19',
  ours: vestibuleWithShadow,
  peer: vestibule,
  gate: 0.95,
});
