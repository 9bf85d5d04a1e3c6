type Library = typeof import('@simplewebauthn/server') &
  typeof import('@simplewebauthn/server/helpers');

let loading: Promise<Library> | undefined;

/**
 * `@simplewebauthn/server` with its helpers, which answers for every signature; loaded when it is
 * first needed: 220 ms that no start waits for.
 */
export const webauthn = (): Promise<Library> => (loading ??= load());

async function load(): Promise<Library> {
  const server = await import('@simplewebauthn/server');
  const helpers = await import('@simplewebauthn/server/helpers');
  return { ...server, ...helpers };
}
