import { perMinute } from '../../registry/rate-limit.js';

/** Limits updates and patches of what people own, by client network. */
export const updateLimit = perMinute('changes', 'changesPerNetwork');
