import { isIP } from 'node:net';
import type { Settings } from '../../../registry/kind.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { EgressPolicy } from '../../../security/egress-policy.js';
import { isLoopback } from '../../../security/loopback.js';
import { isWrittenAsOpened, writtenAsOpened } from '../../signin/web-url.js';

/**
 * Returns causes at `field` for a URL that this service must not call, from its text alone. The
 * resolved addresses are checked at each call.
 */
export function outboundFaults(
  field: string,
  text: string,
  { baseURL, allowPrivateNetwork }: Settings,
): Cause[] {
  if (!URL.canParse(text)) return [invalidValue(field, 'must be a URL')];
  const url = new URL(text);
  if (url.username || url.password || text.includes('#')) {
    return [invalidValue(field, 'must have no user information and no fragment')];
  }
  if (!isWrittenAsOpened(text)) return [invalidValue(field, writtenAsOpened)];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = addressOf(host);
  const egress = new EgressPolicy(allowPrivateNetwork, isLoopback(new URL(baseURL).hostname));
  const isPermitted =
    address === undefined
      ? url.protocol === 'https:'
      : egress.permits(address, url.protocol === 'https:');
  return isPermitted
    ? []
    : [
        invalidValue(
          field,
          'must be https and resolve to a public address or one in --allow-private-network',
        ),
      ];
}

/** Returns the IP address that a host names without DNS; undefined for a name to resolve. */
function addressOf(host: string): string | undefined {
  if (isIP(host)) return host;
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : undefined;
}
