/** The key of how many decisions of an account are objects of their own. */
export const decisionCountKey = (account: string): string => `decisioncount/${account}`;
