import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { CommandError } from '../../terminal/errors.js';

/** A whole response; `body` is undefined if it is not JSON. */
export interface HttpResponse {
  readonly code: number;
  readonly ok: boolean;
  readonly text: string;
  readonly body: any;
  readonly warnings: readonly string[];
}

/**
 * The optional parts of a request: body, CA certificates in place of the machine's list, how long
 * the service may be silent in milliseconds, and what ends the request.
 */
interface RequestOptions {
  readonly body?: string;
  readonly ca?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The service does not respond. */
export class UnreachableError extends CommandError {}

/** Returns the trusted CA of a context. */
export const caOption = ({
  certificateAuthority: ca,
}: {
  readonly certificateAuthority?: string;
}): RequestOptions => (ca === undefined ? {} : { ca });

/** The User-Agent, which the person who confirms a sign-in sees. */
const userAgent = `vestibule (${process.platform}; ${process.arch})`;

/** The default silence timeout in milliseconds; a watch sends something every 25 seconds. */
const defaultTimeoutMs = 60_000;

/**
 * Sends one request and returns the response when it has begun. Does not use fetch, which marks
 * requests as a browser's, and those may carry no token (docs/design/wire.md#who-is-a-browser).
 */
export function openRequest(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  { body, ca, timeoutMs = defaultTimeoutMs, signal }: RequestOptions = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const req = (url.startsWith('https:') ? https : http)(
      url,
      {
        method,
        agent: false, // Node can time out a kept connection in the moment in which it is used again
        ...(ca !== undefined && { ca }),
        ...(signal && { signal }),
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        timeout: timeoutMs,
      },
      resolve,
    );
    req
      .on('error', (error) => reject(unreachableError(url, error)))
      .on('timeout', () => req.destroy(new Error('no response')))
      .end(body);
  });
}

/** Sends one request and reads the whole response. */
export async function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  options: RequestOptions = {},
): Promise<HttpResponse> {
  const response = await openRequest(method, url, headers, options);
  try {
    return await readResponse(response);
  } catch (error) {
    throw unreachableError(url, error as Error);
  }
}

/** Reads the rest of a response. */
export async function readResponse(response: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const code = response.statusCode!;
  const text = Buffer.concat(chunks).toString();
  return {
    code,
    ok: code >= 200 && code < 300,
    text,
    body: parseJSON(text),
    warnings: warningsOf(response.headers.warning),
  };
}

/** Yields the lines of a stream, and returns when it ends or is cut off. */
export async function* lines(response: IncomingMessage): AsyncGenerator<string> {
  let remainder = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      const complete = (remainder + (chunk as string)).split('\n');
      remainder = complete.pop()!;
      yield* complete.filter((line) => line.trim() !== '');
    }
  } catch {
    /* The stream was cut off. */
  } finally {
    response.destroy();
  }
}

const unreachableError = (url: string, error: Error): UnreachableError =>
  new UnreachableError(`${new URL(url).origin} cannot be reached: ${error.message}`);

/** Returns the texts of a Warning header (RFC 7234 §5.5). */
const warningsOf = (header: string | string[] | undefined): string[] =>
  [...String(header ?? '').matchAll(/299 \S{1,255} "((?:[^"\\]|\\.){0,4096})"/g)].map(([, text]) =>
    text!.replaceAll(/\\(.)/g, '$1'),
  );

function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
