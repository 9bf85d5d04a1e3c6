/** The types of callers that may request objects. */
export const principals = ['Anonymous', 'Browser', 'Account', 'ClusterUser', 'Client'] as const;
