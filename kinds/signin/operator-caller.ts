import type { Caller } from '../../registry/kind.js';

/**
 * Returns true if the caller is an operator: a member of that Group, the service itself, or
 * `system:masters` of a cluster.
 */
export const isOperator = (caller: Caller): boolean =>
  caller.type === 'System' ||
  (caller.type === 'Account' && caller.operator) ||
  (caller.type === 'ClusterUser' && caller.groups.includes('system:masters'));
