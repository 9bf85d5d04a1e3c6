import type { IncomingMessage } from 'node:http';

const sites = new Set(['same-origin', 'same-site', 'cross-site', 'none']);

/**
 * Where a browser says a request comes from: `Sec-Fetch-Site`, where that is one of its four words,
 * once.
 */
export function siteOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const site = headers['sec-fetch-site'];
  return typeof site === 'string' && sites.has(site) ? site : undefined;
}
