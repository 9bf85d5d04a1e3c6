type Library = typeof import('@simplewebauthn/server') &
  typeof import('@simplewebauthn/server/helpers');

let loading: Promise<Library> | undefined;

/**
 * Returns `@simplewebauthn/server` with its helpers. It is loaded at first use, which takes about
 * 220 ms.
 */
export const loadWebauthn = (): Promise<Library> => (loading ??= load());

async function load(): Promise<Library> {
  const server = await import('@simplewebauthn/server');
  const helpers = await import('@simplewebauthn/server/helpers');
  return { ...server, ...helpers };
}
