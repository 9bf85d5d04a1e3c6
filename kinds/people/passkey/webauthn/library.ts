/** `@simplewebauthn/server` with its helpers. */
export type WebAuthnLibrary = typeof import('@simplewebauthn/server') &
  typeof import('@simplewebauthn/server/helpers');

let loading: Promise<WebAuthnLibrary> | undefined;

/** Returns the library. It is loaded at first use, which takes about 220 ms. */
export const loadWebauthn = (): Promise<WebAuthnLibrary> => (loading ??= load());

async function load(): Promise<WebAuthnLibrary> {
  const server = await import('@simplewebauthn/server');
  const helpers = await import('@simplewebauthn/server/helpers');
  return { ...server, ...helpers };
}
