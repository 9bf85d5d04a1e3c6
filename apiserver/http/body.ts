import type { IncomingMessage } from 'node:http';
import { parseJSON } from '../../registry/schema/strict-json.js';
import {
  badRequest,
  tooLarge,
  unsupportedEncoding,
  unsupportedMediaType,
} from '../../registry/status/status.js';
import { parseMediaType } from '../codec/media-type.js';
import { parseYAML } from '../codec/yaml.js';
import { hasBody, isBrowser, rawValues } from './headers.js';
import type { ApiRequest, ApiResponse } from './message.js';

export const jsonType = 'application/json';

const yamlType = 'application/yaml';
const bodyTypes = [jsonType, yamlType];

export const mergePatchType = 'application/merge-patch+json';

export const jsonPatchType = 'application/json-patch+json';

export const applyPatchType = 'application/apply-patch+yaml';

/** The media types of PATCH on an object; actions have no apply. */
export const patchTypes = [jsonPatchType, mergePatchType, applyPatchType] as const;
export const actionPatchTypes = [jsonPatchType, mergePatchType] as const;

/** Reports whether a request is a server-side apply. */
export function isApply({ method, headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  if (method !== 'PATCH' || type === undefined || type === mergePatchType) return false;
  return parseMediaType(type)?.type === applyPatchType;
}

/** Returns the media type of the body; throws 415 unless it is one of those `accepted`. */
function requireMediaType<T extends string>(
  request: IncomingMessage,
  accepted: readonly T[],
  whenAbsent?: T,
): T {
  const encodings = rawValues(request, 'content-encoding');
  if (encodings.some((encoding) => encoding.toLowerCase() !== 'identity')) {
    throw unsupportedEncoding();
  }
  const types = rawValues(request, 'content-type');
  if (types.length === 0 && whenAbsent !== undefined) return whenAbsent;
  const only = (types.length === 1 && types[0]) || '';
  const exact = accepted.find((type) => type === only);
  if (exact !== undefined) return exact;
  const given = parseMediaType(only);
  const charsets = given?.parameters.filter(([name]) => name === 'charset') ?? [];
  const isUTF8 =
    charsets.length < 2 && charsets.every(([, value]) => value.toLowerCase() === 'utf-8');
  const found = accepted.find((type) => type === given?.type);
  if (found === undefined || !isUTF8) {
    throw unsupportedMediaType(accepted, request.method === 'PATCH' ? 'Accept-Patch' : 'Accept');
  }
  return found;
}

/**
 * Returns the media type of the body: one of `accepted` for PATCH, JSON or YAML otherwise. Throws 415
 * for another (docs/design/kubernetes.md#media-types).
 */
export function requireBodyType(
  request: IncomingMessage,
  accepted: readonly string[] = patchTypes,
  types: readonly string[] = bodyTypes,
): string {
  const { method, headers } = request;
  if (method === 'PATCH') return requireMediaType(request, accepted);
  const absent =
    !isBrowser(request) ||
    (method === 'DELETE' && headers['content-type'] === undefined && !hasBody(request));
  return requireMediaType(request, types, absent ? jsonType : undefined);
}

/** Parses a body of one of these types; throws 400 if it is malformed. */
export const parseBody = (request: IncomingMessage, bytes: Buffer): unknown =>
  parseMediaType(request.headers['content-type'] ?? '')?.type === yamlType
    ? parseYAML(bytes)
    : parseJSON(bytes);

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
  ) {
    return;
  }
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
        reject(error);
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
  if (!optional) return requireObject(await parseBody(request, bytes));
  const value = bytes.length === 0 ? null : await parseBody(request, bytes);
  return value === null ? {} : requireObject(value);
}

/** Parses bytes as a JSON object; throws 400 for anything else. */
export function parseObject(bytes: Buffer): Record<string, unknown> {
  return requireObject(parseJSON(bytes));
}

/** Returns a parsed body; throws 400 unless it is an object. */
export function requireObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body must be a JSON object');
  }
  return value as Record<string, unknown>;
}
