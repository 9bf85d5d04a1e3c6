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
