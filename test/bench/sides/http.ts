import type { IncomingMessage, ServerResponse } from 'node:http';

/** A page of about the size of the service's own. */
export const page = Buffer.from(
  `<!doctype html><html lang="en"><title>Sign in</title><main id="main"></main>${'<!-- -->'.repeat(200)}</html>`,
);

/** Answers with a page. */
export function sendPage(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': page.length });
  response.end(page);
}

/** Answers with JSON. */
export function sendJSON(response: ServerResponse, body: unknown, code = 200): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  response.end(bytes);
}

/** Redirects a browser. */
export const redirect = (response: ServerResponse, to: string): void => {
  response.writeHead(303, { Location: to, 'Content-Length': 0 }).end();
};

/** Reads the JSON that a request brings. */
export async function bodyOf(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}
