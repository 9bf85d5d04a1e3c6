import { badRequest } from '../../registry/status/status.js';

const malformed = () => badRequest('the body is not valid protobuf');
const magic = Buffer.from('k8s\0');

/** The size of a field by its wire type, for types of fixed size. */
const fixedSizes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * Returns the length-delimited fields of a message by number, the last of each; skips other fields.
 */
export function fieldsOf(bytes: Buffer): ReadonlyMap<number, Buffer> {
  const fields = new Map<number, Buffer>();
  let at = 0;
  const varint = (): number => {
    for (let value = 0, scale = 1; at < bytes.length && scale < 2 ** 70; scale *= 128) {
      const byte = bytes[at]!;
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw malformed();
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const type = tag % 8;
    if (type === 0) {
      varint();
      continue;
    }
    const length = type === 2 ? varint() : (fixedSizes[type] ?? NaN);
    if (field < 1 || !(at + length <= bytes.length)) throw malformed();
    if (type === 2) fields.set(field, bytes.subarray(at, at + length));
    at += length;
  }
  return fields;
}

/** Returns the text of a field, empty if absent. */
export const textOf = (fields: ReadonlyMap<number, Buffer>, field: number): string =>
  fields.get(field)?.toString() ?? '';

/**
 * Decodes Kubernetes' protobuf envelope: the four bytes `k8s\0`, then runtime.Unknown with type and
 * message (k8s.io/apimachinery, runtime/serializer/protobuf).
 */
export function unwrap(bytes: Buffer): { apiVersion: string; kind: string; raw: Buffer } {
  if (!bytes.subarray(0, magic.length).equals(magic)) throw malformed();
  const unknown = fieldsOf(bytes.subarray(magic.length));
  const type = fieldsOf(unknown.get(1) ?? Buffer.alloc(0));
  if (textOf(unknown, 3) !== '') throw badRequest('encoded bodies are not accepted');
  return {
    apiVersion: textOf(type, 1),
    kind: textOf(type, 2),
    raw: unknown.get(2) ?? Buffer.alloc(0),
  };
}
