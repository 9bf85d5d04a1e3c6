import { badRequest } from '../../registry/status/status.js';
import { isLoopback } from '../../security/loopback.js';
import { pathOf } from '../codec/query.js';
import { healthPath } from '../request/request-info.js';
import type { Step } from './step.js';

/** The only host that is served. */
export interface AllowedHost {
  /** The base URL. */
  readonly url: URL;
  /** When no other is, for the message. */
  readonly reason: string;
}

/**
 * Throws 400 if the Host differs from that of the base URL. Where anyone may do what only some
 * should, a page whose name was pointed here (DNS rebinding) must not count as our own.
 * Loopback passes, because no other page can have that name, and so does HTTP/1.0 without a Host,
 * which no browser sends. The port is ignored, because there may be two.
 */
export function requireOwnHost(host: string | undefined, { url, reason }: AllowedHost): void {
  if (host === undefined || host === url.host) return;
  const hostname = hostnameOf(host);
  if (hostname === url.hostname || isLoopback(hostname)) return;
  throw badRequest(
    `the Host header names ${JSON.stringify(hostname)}: ${reason}, only ${url.hostname} ` +
      'and loopback are answered',
  );
}

/**
 * Checks the Host of every request except health checks and requests of a front proxy. It is about
 * the message alone, so it runs before path and method are read.
 */
export const checkHost =
  (own: AllowedHost | undefined): Step =>
  ({ url, assertedHeaders, headers }) => {
    if (own && !assertedHeaders && !healthPath.test(pathOf(url))) requireOwnHost(headers.host, own);
  };

const hostnameOf = (host: string): string => {
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
};
