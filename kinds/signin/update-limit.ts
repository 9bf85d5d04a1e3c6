import { perMinute } from '../../registry/limits/rate-limit.js';

/** Limits updates and patches of what people own, by client network. */
export const updateLimit = perMinute('changes', 'changesPerNetwork');
