import { StatusError, type Reason } from '../../registry/status.js';
import { rawValues } from '../http/headers.js';
import type { Step } from './step.js';

const maxFieldCount = 200;
const close = { Connection: 'close' };

/** The characters of a host and a port (RFC 3986 §3.2.2), without the comma that joins two fields. */
const hostCharacters = /^[\w.~%!$&'()*+;=:[\]-]*$/;

function refuse(message: string, reason: Reason = 'BadRequest'): never {
  throw new StatusError(reason, message, undefined, close);
}

/** Refuses ambiguous messages and closes their connection (RFC 9112 §2.2, §3.2). */
export const checkMessageSyntax: Step = (req) => {
  const { headers, httpVersion } = req;
  if (!req.url!.startsWith('/')) refuse('the request target must be a path');
  if (req.fieldCount > maxFieldCount)
    refuse(`there are more than ${maxFieldCount} header fields`, 'RequestHeaderFieldsTooLarge');
  if ((headers.host === undefined && httpVersion === '1.1') || rawValues(req, 'host').length > 1)
    refuse('one Host header is needed');
  if (!hostCharacters.test(headers.host ?? '')) refuse('the Host header must name a host');
  if (!['chunked', undefined].includes(headers['transfer-encoding']?.toLowerCase()))
    refuse('the transfer encoding is not served');
  if (httpVersion !== '1.1' && httpVersion !== '1.0') refuse('only HTTP/1.1 is served');
  if (headers.expect !== undefined && httpVersion === '1.1' && !req.sendContinue)
    refuse('the expectation cannot be met');
};
