import type { IncomingMessage, ServerResponse } from 'node:http';
import { routes } from './configuration.js';

const most = 8 << 10;
const reposted: ReadonlySet<string> = new Set([routes.authorization, routes.end_session]);

/** Whether a request is a form post that is answered as a GET (OpenID Connect Core 3.1.2.1). */
export const isRepost = (request: IncomingMessage): boolean => request.method === 'POST' && reposted.has(request.url!.split('?')[0]!);

/** Sends the browser to the same request as a GET, which carries its Lax cookies; answers false when the form is no form or too long. */
export async function repost(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (!/^application\/x-www-form-urlencoded(\s*;|$)/i.test(request.headers['content-type'] ?? '')) return false;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if ((size += chunk.length) > most) return false;
    chunks.push(chunk);
  }
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  response.writeHead(303, { Location: `${request.url!.split('?')[0]}?${query}`, 'Content-Length': 0 }).end();
  return true;
}
