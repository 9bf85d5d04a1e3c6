import type { IncomingMessage } from 'node:http';

/** All values that were sent under one header name: node joins some and drops others. */
export function rawValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]!.length === name.length && raw[i]!.toLowerCase() === name) values.push(raw[i + 1]!);
  return values;
}

/**
 * Whether a browser sent it: what it does for another site's page has an Origin or a
 * Sec-Fetch-Site. Programs send other `Sec-Fetch-*` headers too, as fetch of Node does.
 */
export const isBrowser = ({ headers }: IncomingMessage): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;

/** Whether a body belongs to the request, there or not yet. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Whether a browser opens an address, rather than a script fetches it
 * (docs/design/kubernetes.md#navigation).
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-mode'] !== undefined) return headers['sec-fetch-mode'] === 'navigate';
  const accept = headers.accept ?? '';
  const html = accept.indexOf('text/html');
  const json = accept.indexOf('application/json');
  return html >= 0 && (json < 0 || html < json);
}
