import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf, routes } from '../context/routes.js';

const redirectedPaths: ReadonlySet<string> = new Set([routes.authorization, routes.end_session]);

/**
 * Returns true if the request is a form post that is redirected to a GET (OpenID Connect Core
 * §3.1.2.1).
 */
export const isPostToRedirect = (request: IncomingMessage): boolean =>
  request.method === 'POST' && redirectedPaths.has(pathOf(request));

/**
 * Redirects the browser to the same request as a GET, which carries its Lax cookies. Returns false
 * if the body is not a form. The caller has bounded its length.
 */
export async function redirectToGet(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (!/^application\/x-www-form-urlencoded(\s*;|$)/i.test(request.headers['content-type'] ?? '')) {
    return false;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request.iterator()) chunks.push(chunk as Buffer);
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  response.writeHead(303, { Location: `${pathOf(request)}?${query}`, 'Content-Length': 0 }).end();
  return true;
}
