import { fromBase64url } from './base64url.js';
import { WebAuthnError, assert } from './assert.js';

/** What an answer must be to. */
export interface Expected {
  /** The exact challenge, base64url. */
  readonly challenge: string;
  /** Our own origin. */
  readonly origin: string;
  readonly rpID: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Holds client data to what was asked (WebAuthn 3, 7.1 steps 5 to 11, 7.2 steps 10 to 15): type,
 * the exact challenge, exactly our origin, not inside another's page, no member twice; else a
 * Fault.
 */
export function judgeClientData(
  encoded: string,
  type: 'webauthn.create' | 'webauthn.get',
  { challenge, origin }: Expected,
): void {
  const bytes = fromBase64url(encoded, 4096);
  assert(bytes !== undefined, 'client data: not base64url');
  const data = parse(bytes);
  assert(data.type === type, 'client data: of another ceremony');
  assert(data.challenge === challenge, 'client data: another challenge');
  assert(data.origin === origin, 'client data: another origin');
  assert(
    data.crossOrigin === undefined || data.crossOrigin === false,
    'client data: inside another page',
  );
  assert(data.topOrigin === undefined, 'client data: inside another page');
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let data: unknown;
  try {
    text = utf8.decode(bytes);
    data = JSON.parse(text);
  } catch {
    throw new WebAuthnError('client data: not JSON');
  }
  assert(
    typeof data === 'object' && data !== null && !Array.isArray(data),
    'client data: not an object',
  );
  assert(isUnambiguous(text), 'client data: a member twice');
  return data as Record<string, unknown>;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/gy;

/**
 * Whether no object of a JSON text, which is known to be one, has a member twice after unescaping.
 */
function isUnambiguous(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [one] of text.matchAll(token)) {
    if (one === '{') open.push(new Set());
    else if (one === '[') open.push(undefined);
    else if (one === '}' || one === ']') open.pop();
    else if (one === ':') {
      const name = JSON.parse(last) as string;
      if (open.at(-1)!.has(name)) return false;
      open.at(-1)!.add(name);
    }
    if (one.startsWith('"')) last = one; // space may stand between a name and its colon
  }
  return true;
}
