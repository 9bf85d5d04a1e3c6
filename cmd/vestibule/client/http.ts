import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { CommandError } from '../terminal/errors.js';

/** An answer, whole; `body` is undefined where it is not JSON. */
export interface HttpResponse {
  readonly code: number;
  readonly ok: boolean;
  readonly text: string;
  readonly body: any;
  readonly warnings: readonly string[];
}

/**
 * What goes with a request: a body, whose certificates are trusted for it in place of the machine's
 * list, and how long the service may say nothing, in milliseconds.
 */
interface Sent {
  readonly body?: string;
  readonly ca?: string;
  readonly patience?: number;
}

/** A service that does not answer. */
export class Unreachable extends CommandError {}

/** Whom a context trusts. */
export const trusted = ({
  certificateAuthority: ca,
}: {
  readonly certificateAuthority?: string;
}): Sent => (ca === undefined ? {} : { ca });

/** What the command says of itself, which a person who confirms it is shown. */
const userAgent = `vestibule (${process.platform}; ${process.arch})`;

/** How long that is unless told: a watch says something every 25 seconds. */
const silence = 60_000;

/**
 * Sends one request; gives the answer once it has begun. Not by fetch, which says that it is a
 * browser's: those may carry no token (docs/design/wire.md#who-is-a-browser).
 */
export function open(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  { body, ca, patience = silence }: Sent = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const begun = (url.startsWith('https:') ? https : http)(
      url,
      {
        method,
        ...(ca !== undefined && { ca }),
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        timeout: patience,
      },
      resolve,
    );
    begun
      .on('error', (error) => reject(unreachable(url, error)))
      .on('timeout', () => begun.destroy(new Error('no answer')))
      .end(body);
  });
}

/** Sends one request and reads the whole answer. */
export async function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  sent: Sent = {},
): Promise<HttpResponse> {
  const answer = await open(method, url, headers, sent);
  try {
    return await whole(answer);
  } catch (error) {
    throw unreachable(url, error as Error);
  }
}

/** Reads what is left of an answer. */
export async function whole(answer: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const code = answer.statusCode!;
  const text = Buffer.concat(chunks).toString();
  return {
    code,
    ok: code >= 200 && code < 300,
    text,
    body: parsed(text),
    warnings: warningsOf(answer.headers.warning),
  };
}

/** What a stream says, line by line; ends where the stream does, however that was. */
export async function* lines(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  answer.setEncoding('utf8');
  try {
    for await (const chunk of answer) {
      const all = (rest + (chunk as string)).split('\n');
      rest = all.pop()!;
      yield* all.filter((line) => line.trim() !== '');
    }
  } catch {
    /* cut off */
  } finally {
    answer.destroy();
  }
}

const unreachable = (url: string, error: Error): Unreachable =>
  new Unreachable(`${new URL(url).origin} cannot be reached: ${error.message}`);

/** The texts of a Warning header (RFC 7234 5.5). */
const warningsOf = (header: string | string[] | undefined): string[] =>
  [...String(header ?? '').matchAll(/299 \S{1,255} "((?:[^"\\]|\\.){0,4096})"/g)].map(([, text]) =>
    text!.replaceAll(/\\(.)/g, '$1'),
  );

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
