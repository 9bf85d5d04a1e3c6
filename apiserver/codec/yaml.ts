import { isUtf8 } from 'node:buffer';
import { parseJSON } from '../../registry/schema/strict-json.js';
import { badRequest } from '../../registry/status/status.js';
import { convertYAML } from './yaml-worker.js';

/**
 * Parses a body that is JSON or YAML 1.2 as strictly as `parseJSON`. Throws 400 for anything else,
 * for aliases, anchors, directives, tags and `?`, and above the limits.
 */
export async function parseYAML(bytes: Buffer): Promise<unknown> {
  if (isJSON(bytes)) return parseJSON(bytes);
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8');
  const converted = await convertYAML(bytes.toString()).catch(() => ({
    fault: 'the body is too complex to be read as YAML: send it as JSON',
  }));
  if ('fault' in converted) throw badRequest(converted.fault);
  return parseJSON(Buffer.from(converted.json));
}

/** Reports whether the first character that is no white space begins a JSON object. */
const isJSON = (bytes: Buffer): boolean => bytes.find((byte) => byte > 0x20) === '{'.charCodeAt(0);
