import { vestibule, vestibuleCompacting } from '../sides/servers.js';
import { signInRow } from './sign-in.js';

/**
 * Sign-ins while history is compacted and what expired is deleted, dozens of times in the row, against
 * the service where neither happens before the row ends.
 */
export const signInCompacted = signInRow({
  id: '23',
  ours: vestibuleCompacting,
  peer: vestibule,
  gate: 0.9,
});
