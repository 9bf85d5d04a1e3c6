/** @simplewebauthn/server, loaded when it is first needed: 220 ms that no start waits for. */
type Library = typeof import('@simplewebauthn/server');

let loading: Promise<Library> | undefined;

/** The library, which answers for every signature. */
export const webauthn = (): Promise<Library> => (loading ??= import('@simplewebauthn/server'));
