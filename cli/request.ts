import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { Failure } from './failure.js';

/** An answer, whole; `body` is undefined where it is not JSON. */
export interface Answer { readonly code: number; readonly ok: boolean; readonly body: any }

/** What goes with a request: a body, and whose certificates are trusted for it in place of the machine's list. */
interface Sent { readonly body?: string; readonly ca?: string }

/** Whom a context trusts. */
export const trusted = ({ certificateAuthority: ca }: { readonly certificateAuthority?: string }): Sent => (ca === undefined ? {} : { ca });

/** How long a service may say nothing, in milliseconds. */
const silence = 60_000;

/** Sends one request. Not by fetch, which says that it is a browser's: those may carry no token (`security.md` 1.1). */
export function send(method: string, url: string, headers: Readonly<Record<string, string>>, { body, ca }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const unreachable = (error: Error): void => reject(new Failure(`${new URL(url).origin} cannot be reached: ${error.message}`));
    const begun = (url.startsWith('https:') ? https : http)(url, { method, ...(ca !== undefined && { ca }), headers: { accept: 'application/json', ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }), ...headers }, timeout: silence }, (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', unreachable).on('end', () => {
        const code = answer.statusCode!;
        resolve({ code, ok: code >= 200 && code < 300, body: parsed(Buffer.concat(chunks).toString()) });
      });
    });
    begun.on('error', unreachable).on('timeout', () => begun.destroy(new Error('no answer'))).end(body);
  });
}

function parsed(text: string): unknown {
  try { return JSON.parse(text) } catch { return undefined }
}
