import type { IncomingMessage, ServerResponse } from 'node:http';
import { routes } from '../context/routes.js';

const reposted: ReadonlySet<string> = new Set([routes.authorization, routes.end_session]);

/** Whether a request is a form post that is answered as a GET (OpenID Connect Core 3.1.2.1). */
export const isRepost = (request: IncomingMessage): boolean =>
  request.method === 'POST' && reposted.has(request.url!.split('?')[0]!);

/**
 * Sends the browser to the same request as a GET, which carries its Lax cookies; answers false when
 * the form is none; its length is bounded before.
 */
export async function repost(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (!/^application\/x-www-form-urlencoded(\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    return false;
  const chunks: Buffer[] = [];
  for await (const chunk of request.iterator()) chunks.push(chunk as Buffer);
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  response
    .writeHead(303, { Location: `${request.url!.split('?')[0]}?${query}`, 'Content-Length': 0 })
    .end();
  return true;
}
