import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/**
 * What came of a request: an answer; `unsent`: no one listened; `unknown`: it was sent and got
 * none.
 */
export type Reply = { readonly code: number; readonly body: any } | 'unsent' | 'unknown';

/**
 * One request as a program sends it that was given a cookie; gives up after so many milliseconds.
 */
export function ask(
  base: string,
  method: string,
  path: string,
  {
    cookie,
    body,
    type = 'application/json',
    patience = 5_000,
  }: { cookie: string; body?: unknown; type?: string; patience?: number },
): Promise<Reply> {
  const { hostname, port } = new URL(base);
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve) => {
    const req = request(
      {
        host: hostname,
        port,
        method,
        path: `/api/v1beta1/${path}`,
        agent,
        timeout: patience,
        headers: {
          accept: 'application/json',
          'sec-fetch-site': 'same-origin',
          cookie,
          ...(bytes && { 'content-type': type, 'content-length': bytes.length }),
        },
      },
      (res) => {
        const chunks: Buffer[] = [];
        res
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', () => {
            resolve('unknown');
          })
          .on('close', () => {
            resolve('unknown');
          })
          .on('end', () => {
            resolve({ code: res.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) });
          });
      },
    );
    req
      .on('timeout', () => req.destroy())
      .on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code === 'ECONNREFUSED' ? 'unsent' : 'unknown');
      });
    req.end(bytes);
  });
}

/** Resolves after so many milliseconds. */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
