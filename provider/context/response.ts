import { isRecord } from '../../registry/schema/is-record.js';

/** Returns the JSON object that is a response's body; an empty one for any other body. */
export const jsonOf = (body: unknown): Record<string, unknown> => (isRecord(body) ? body : {});

/** Returns the error code of a response (RFC 6749 §5.2), or undefined. */
export function errorOf(body: unknown): string | undefined {
  const { error } = jsonOf(body);
  return typeof error === 'string' ? error : undefined;
}
