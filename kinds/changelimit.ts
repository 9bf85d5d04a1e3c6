import type { Limit } from '../registry/limits.js';

/** Updates and patches of what people own, by client network. */
export const ownChanges: Limit = { name: 'changes', most: 120, seconds: 60 };
