const hosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/**
 * Whether a host, as a URL or a setting names it, is this very machine: where plain http is good
 * enough.
 */
export const isLoopback = (host: string): boolean => hosts.has(host);
