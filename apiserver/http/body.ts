import type { IncomingMessage } from 'node:http';
import { parseJSON } from '../../registry/strict-json.js';
import { badRequest, StatusError, tooLarge, unsupportedMediaType } from '../../registry/status.js';
import type { ApiRequest, ApiResponse } from './message.js';
import { parseMediaType } from '../codec/media-type.js';
import { isBrowser, rawValues } from './headers.js';
import { hasBody } from './headers.js';

export const jsonType = 'application/json';

export const mergePatchType = 'application/merge-patch+json';

/** Checks the media type of the body; throws 415 unless it is `accepted`. */
function requireMediaType(
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
 * Checks the media type for the method: merge patch for PATCH, JSON otherwise
 * (docs/design/kubernetes.md#media-types).
 */
export function requireBodyType(request: IncomingMessage): void {
  const { method, headers } = request;
  if (method === 'PATCH') return requireMediaType(request, mergePatchType, false);
  const absent =
    !isBrowser(request) ||
    (method === 'DELETE' && headers['content-type'] === undefined && !hasBody(request));
  requireMediaType(request, jsonType, absent);
}

/** The bytes of an unread body that are read and dropped to keep the connection. */
const maxDiscardedBytes = 64 << 10;

/**
 * Prepares a refusal: closes the connection if more of the body would arrive, or the client waits
 * for 100 Continue.
 */
export function prepareRefusal(request: ApiRequest, response: ApiResponse): void {
  if (request.complete || !hasBody(request)) return;
  if (
    request.sendContinue === undefined &&
    Number(request.headers['content-length']) <= maxDiscardedBytes
  )
    return;
  response.shouldKeepAlive = false;
}

/** Reads the whole body; throws 413 above `max` bytes, before it is buffered. */
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

/**
 * Reads the body as a JSON object; throws 400 for anything else, and for an empty body unless
 * `optional`.
 */
export async function readObject(
  request: ApiRequest,
  max: number,
  optional = false,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, max);
  return bytes.length === 0 && optional ? {} : parseObject(bytes);
}

/** Parses bytes as a JSON object; throws 400 for anything else. */
export function parseObject(bytes: Buffer): Record<string, unknown> {
  const value = parseJSON(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body must be a JSON object');
  return value as Record<string, unknown>;
}
