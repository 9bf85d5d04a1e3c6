import type { IncomingMessage } from 'node:http';
import { parseJSON } from '../../registry/strict-json.js';
import { badRequest, StatusError, tooLarge, unsupportedMediaType } from '../../registry/status.js';
import type { ApiRequest, ApiResponse } from './message.js';
import { parseMediaType } from '../codec/media-type.js';
import { isBrowser, rawValues } from './headers.js';
import { hasBody } from './headers.js';

export const json = 'application/json';

export const mergePatch = 'application/merge-patch+json';

/**
 * Chooses the decoder: the one media type of the request, read by RFC 9110's grammar; 415 where it
 * is not one of `accepted`.
 */
function refuseMediaType(
  request: IncomingMessage,
  accepted: string,
  absentMeansJSON: boolean,
): void {
  const encodings = rawValues(request, 'content-encoding');
  if (encodings.some((one) => one.toLowerCase() !== 'identity'))
    throw new StatusError('UnsupportedMediaType', 'encoded bodies are not accepted');
  const types = rawValues(request, 'content-type');
  if (types.length === 0 ? absentMeansJSON : types.length === 1 && types[0] === accepted) return;
  const given = types.length === 1 ? parseMediaType(types[0]!) : undefined;
  const charsets = given?.parameters.filter(([name]) => name === 'charset') ?? [];
  const isUTF8 =
    charsets.length < 2 && charsets.every(([, value]) => value.toLowerCase() === 'utf-8');
  if (given?.type !== accepted || !isUTF8) throw unsupportedMediaType([accepted]);
}

/**
 * The media type a method's body must have: PATCH takes merge patches, everything else JSON
 * (docs/design/kubernetes.md#media-types).
 */
export function refuseBodyType(request: IncomingMessage): void {
  const { method, headers } = request;
  if (method === 'PATCH') return refuseMediaType(request, mergePatch, false);
  const absent =
    !isBrowser(request) ||
    (method === 'DELETE' && headers['content-type'] === undefined && !hasBody(request));
  refuseMediaType(request, json, absent);
}

/** So many bytes of a body that is not wanted are read and thrown away, to keep the connection. */
const leftover = 64 << 10;

/**
 * Before a refusal: the connection is closed where more of a body is under way, or the client still
 * waits to be asked for it.
 */
export function refuseBody(request: ApiRequest, response: ApiResponse): void {
  if (request.complete || !hasBody(request)) return;
  if (request.welcome === undefined && Number(request.headers['content-length']) <= leftover)
    return;
  response.shouldKeepAlive = false;
}

/** The whole body, refused with 413 before it is buffered where it is over `most` bytes. */
export function readBytes(request: ApiRequest, max: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > max) return Promise.reject(tooLarge(max));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > max) throw tooLarge(max);
        request.memory?.refuseBody(size);
        chunks.push(chunk);
      } catch (error) {
        request.pause();
        reject(error as StatusError);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on('error', () => reject(badRequest('the body ended early')));
    request.on('aborted', () => reject(badRequest('the body ended early')));
  });
}

/** The body as a JSON object; 400 for anything else, an empty one included unless `optional`. */
export async function readObject(
  request: ApiRequest,
  max: number,
  optional = false,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, max);
  return bytes.length === 0 && optional ? {} : objectOf(bytes);
}

/** Those bytes as a JSON object; 400 for anything else. */
export function objectOf(bytes: Buffer): Record<string, unknown> {
  const value = parseJSON(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body must be a JSON object');
  return value as Record<string, unknown>;
}
