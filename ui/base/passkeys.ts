/** Whether this browser has passkeys at all. */
export const canUsePasskeys = (): boolean => typeof PublicKeyCredential === 'function';
