import type { IncomingMessage } from 'node:http';

const sites = new Set(['same-origin', 'same-site', 'cross-site', 'none']);

/** Returns the value of `Sec-Fetch-Site` if it is sent once and is one of the four known values. */
export function siteOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const site = headers['sec-fetch-site'];
  return typeof site === 'string' && sites.has(site) ? site : undefined;
}
