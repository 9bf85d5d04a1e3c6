import { isIPv6 } from 'node:net';
import { type Reason, StatusError } from '../../registry/status/status.js';
import { rawValues } from '../http/headers.js';
import type { Step } from './step.js';

const maxFieldCount = 200;
const maxPort = 65_535;

/**
 * A host and a port (RFC 9110 §7.2, RFC 3986 §3.2.2): an IPv6 address or a name, without the comma
 * that joins two fields.
 */
const hostAndPort =
  /^(?:\[([0-9A-Fa-f:.]{2,45})\]|(?:[\w.~!$&'()*+;=-]|%[0-9A-Fa-f]{2})*)(?::(\d{0,5}))?$/;

function isHost(text: string): boolean {
  const found = hostAndPort.exec(text);
  if (!found) return false;
  const [, address, port] = found;
  return (address === undefined || isIPv6(address)) && Number(port ?? 0) <= maxPort;
}

function refuse(message: string, reason: Reason = 'BadRequest'): never {
  throw new StatusError(reason, message);
}

/**
 * Refuses ambiguous messages (RFC 9112 §2.2, §3.2, §6.1). The server closes the connection after
 * it.
 */
export const checkMessageSyntax: Step = (req) => {
  const { headers, httpVersion } = req;
  if (!req.url.startsWith('/')) refuse('the request target must be a path');
  if (req.fieldCount > maxFieldCount) {
    refuse(`there are more than ${maxFieldCount} header fields`, 'RequestHeaderFieldsTooLarge');
  }
  if ((headers.host === undefined && httpVersion === '1.1') || rawValues(req, 'host').length > 1) {
    refuse('one Host header is needed');
  }
  if (!isHost(headers.host ?? '')) refuse('the Host header must name a host');
  if (!['chunked', undefined].includes(headers['transfer-encoding']?.toLowerCase())) {
    refuse('the transfer encoding is not served');
  }
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    refuse('HTTP/1.0 has no transfer encoding');
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') refuse('only HTTP/1.1 is served');
  if (headers.expect !== undefined && httpVersion === '1.1' && !req.sendContinue) {
    refuse('the expectation cannot be met');
  }
};
