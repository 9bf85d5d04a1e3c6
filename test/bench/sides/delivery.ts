import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Mail of a peer: to everybody who watches it, in the form and at the path of the service's own
 * mock messages, so that one client reads both.
 */
export class Delivery {
  readonly #watchers = new Set<ServerResponse>();

  /** Answers a request for messages; false if it is for something else. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (!request.url!.startsWith('/api/v1beta1/mockmessages')) return false;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    if (request.url!.includes('watch=true')) {
      response.flushHeaders();
      this.#watchers.add(response);
      response.once('close', () => this.#watchers.delete(response));
    } else {
      response.end('{"metadata":{"resourceVersion":"0"}}');
    }
    return true;
  }

  /** Sends a code to an address. */
  send(to: string, code: string): void {
    const line = `${JSON.stringify({ type: 'ADDED', object: { status: { to, code } } })}\n`;
    for (const watcher of this.#watchers) watcher.write(line);
  }
}
