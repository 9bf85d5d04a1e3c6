import { isLoopback } from '../../security/loopback.js';

/** Characters that are none of a URI (RFC 3986 §2), and quotes, which browsers escape in some parts. */
const foreign = /["'<>\\^`{|}]/;

/**
 * Returns true for a URL that is written as a browser opens it (WHATWG URL): lower case scheme and
 * host, addresses in their usual form, two slashes, no default port, no dot segments, no characters
 * to escape. The slash of an empty path may be absent.
 */
export function isWrittenAsOpened(text: string): boolean {
  const url = URL.parse(text);
  const withPath = text.replace(/^(https?:\/\/[^/?#]*)(?=[?#]|$)/, '$1/');
  return url !== null && !foreign.test(text) && (url.href === text || url.href === withPath);
}

/** What is wrong with other URLs, for a message. */
export const writtenAsOpened =
  'must be written as browsers open it: with //, the host in lower case, no default port, no dot ' +
  'segments, and no character that needs an escape';

/**
 * Returns true for an https URL, or http on loopback, without user information, written as browsers
 * open it.
 */
export function isWebUrl(text: string): boolean {
  if (!isWrittenAsOpened(text)) return false;
  const url = new URL(text);
  return (
    !url.username &&
    !url.password &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  );
}
