const hosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/** Returns whether a host in a URL or setting is this machine, where plain http is acceptable. */
export const isLoopback = (host: string): boolean => hosts.has(host);
