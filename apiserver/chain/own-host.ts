import { isLoopback } from '../../security/loopback.js';
import { badRequest } from '../../registry/status.js';
import type { Step } from './step.js';

/**
 * Refuses a request whose Host is another than that of `own`, the base URL, with 400. Where mail is
 * mocked anyone may read the mailbox, so a page whose name was made to lead here (DNS rebinding)
 * must not count as our own. Loopback passes: no other page can have it as its name. So does
 * HTTP/1.0 without a Host, which no browser speaks. The port does not count, as there may be two.
 */
export function refuseOtherHost(host: string | undefined, own: URL): void {
  if (host === undefined || host === own.host) return;
  const named = hostnameOf(host);
  if (named === own.hostname || isLoopback(named)) return;
  throw badRequest(
    `the Host header names ${JSON.stringify(named)}: while mail is mocked, only ${own.hostname} ` +
      'and loopback are answered',
  );
}

/** The same as a step, for all but health checks and what a front proxy sends. */
export const checkHost =
  (own: URL | undefined): Step =>
  ({ requestInfo, claim, headers }) => {
    if (own && requestInfo!.type !== 'health' && !claim) refuseOtherHost(headers.host, own);
  };

const hostnameOf = (host: string): string => {
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
};
