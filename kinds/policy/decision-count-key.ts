/** Returns the key that counts the single decisions of an account. */
export const decisionCountKey = (account: string): string => `decisioncount/${account}`;
