import { isLoopback } from '../registry/loopback.js';
import { badRequest } from '../registry/status.js';

/**
 * Refuses a request whose Host is another than the base URL's, with 400. Where mail is mocked anyone may read the mailbox, so a page whose name was made
 * to lead here (DNS rebinding) must not count as our own. Loopback passes: no other page can have it as its name. So does HTTP/1.0 without a Host, which no browser speaks. The port does not count, as there may be two.
 */
export function refuseOtherHost(host: string | undefined, baseURL: string): void {
  if (host === undefined) return;
  const named = hostnameOf(host);
  if (named === new URL(baseURL).hostname || isLoopback(named)) return;
  throw badRequest(`the Host header names ${JSON.stringify(named)}: while mail is mocked, only ${new URL(baseURL).hostname} and loopback are answered`);
}

const hostnameOf = (host: string): string => {
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
};
