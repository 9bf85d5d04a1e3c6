/** A body with its compressed forms. */
export interface EncodedContent {
  readonly plain: Buffer;
  readonly br?: Buffer | undefined;
  readonly gzip?: Buffer | undefined;
}

/**
 * Returns the weight of a coding in an Accept-Encoding header (RFC 9110 §12.5.3); 0 without the
 * header, because a simple client may not support any.
 */
function weight(header: string, coding: string): number {
  let rest = 0;
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    const given = q === undefined ? 1 : Number(q.slice(2)) || 0;
    if (name === coding) return given;
    if (name === '*') rest = given;
  }
  return rest;
}

/**
 * Returns the smallest form that the client accepts, with its headers. Only for bodies that are the
 * same for every caller: compressing a secret next to attacker-controlled text would disclose it.
 */
export function encodeContent(
  { plain, br, gzip }: EncodedContent,
  accepted = '',
): { body: Buffer; headers: string[] } {
  const vary = ['Vary', 'Accept-Encoding'];
  if (br && weight(accepted, 'br') > 0) {
    return { body: br, headers: [...vary, 'Content-Encoding', 'br'] };
  }
  if (gzip && weight(accepted, 'gzip') > 0) {
    return { body: gzip, headers: [...vary, 'Content-Encoding', 'gzip'] };
  }
  return { body: plain, headers: vary };
}
