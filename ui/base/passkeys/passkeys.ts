/** Returns whether the host is an IP address. Browsers accept passkeys only for host names. */
export const isIPAddress = (host: string = location.hostname): boolean => /^[\d.]+$|^\[/.test(host);

/** Returns whether this browser supports passkeys at this address. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && !isIPAddress();
