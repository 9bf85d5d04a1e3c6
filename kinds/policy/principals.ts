/** Who may ask for objects. */
export const principals = ['Visitor', 'Browser', 'Account', 'Machine', 'Client'] as const;
