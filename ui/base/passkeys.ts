/** Browsers take passkeys only where the address has a name in it. */
export const isIPAddress = (host: string = location.hostname): boolean => /^[\d.]+$|^\[/.test(host);

/** Whether this browser has passkeys at all, here. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && !isIPAddress();
