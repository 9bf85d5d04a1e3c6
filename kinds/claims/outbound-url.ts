import { isIP } from 'node:net';
import { EgressPolicy } from '../../security/egress-policy.js';
import type { Settings } from '../../registry/kind.js';
import { isLoopback } from '../../security/loopback.js';
import type { Cause } from '../../registry/status.js';

/** A field whose value no schema refuses and that is wrong all the same. */
export const fault = (field: string, message: string): Cause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${message}`,
});

/**
 * What its text alone says against an address that this service is to call, as causes at `field`;
 * what its name resolves to is judged at each call.
 */
export function outboundFaults(
  field: string,
  text: string,
  { baseURL, allowPrivateNetwork }: Settings,
): Cause[] {
  if (!URL.canParse(text)) return [fault(field, 'must be an address')];
  const url = new URL(text);
  if (url.username || url.password || text.includes('#'))
    return [fault(field, 'must have no user information and no fragment')];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = addressOf(host);
  const judge = new EgressPolicy(allowPrivateNetwork, isLoopback(new URL(baseURL).hostname));
  const open =
    address === undefined
      ? url.protocol === 'https:'
      : judge.permits(address, url.protocol === 'https:');
  return open
    ? []
    : [
        fault(
          field,
          'must be https and lead to a public address or one that --allow-private-network opens',
        ),
      ];
}

/** The IP address that a host is or stands for by itself; undefined for a name to be resolved. */
function addressOf(host: string): string | undefined {
  if (isIP(host)) return host;
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : undefined;
}
