/** Who may ask for objects. */
export const principals = ['Anonymous', 'Browser', 'Account', 'ClusterUser', 'Client'] as const;
