import type { IncomingMessage } from 'node:http';
import { prefersHTML } from '../../security/prefers-html.js';

/** Returns all raw values of a header; Node joins or drops repeated ones. */
export function rawValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === name.length && raw[i]!.toLowerCase() === name) values.push(raw[i + 1]!);
  }
  return values;
}

/**
 * Reports whether a browser sent the request. Cross-site requests of a browser carry Origin or
 * Sec-Fetch-Site; programs may send other `Sec-Fetch-*` headers, as Node's fetch does, and with a
 * token also Origin (docs/design/wire.md#who-is-a-browser).
 */
export const isBrowser = ({ headers }: IncomingMessage): boolean =>
  headers['sec-fetch-site'] !== undefined ||
  (headers.origin !== undefined && !(isBearer(headers.authorization) && !('cookie' in headers)));

const isBearer = (authorization: string | undefined): boolean =>
  authorization !== undefined && /^bearer /i.test(authorization);

/** Reports whether the request has a body, received or not. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Reports whether a browser navigates, rather than a script fetches
 * (docs/design/kubernetes.md#navigation).
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-mode'] !== undefined) return headers['sec-fetch-mode'] === 'navigate';
  return prefersHTML(headers.accept);
}
