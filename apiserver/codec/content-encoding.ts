/** A body made once, and what it was compressed to. */
export interface Coded {
  readonly plain: Buffer;
  readonly br?: Buffer | undefined;
  readonly gzip?: Buffer | undefined;
}

/**
 * The weight an Accept-Encoding header gives a coding (RFC 9110 12.5.3); none without the header,
 * as a bare client may read nothing else.
 */
function weight(header: string, coding: string): number {
  let rest = 0;
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim());
    const q = parameters.find((one) => one.startsWith('q='));
    const given = q === undefined ? 1 : Number(q.slice(2)) || 0;
    if (name === coding) return given;
    if (name === '*') rest = given;
  }
  return rest;
}

/**
 * The smallest form the client takes, with its headers; caches are told that it depends. Only for
 * bodies that are the same for everybody: compressing a secret beside a stranger's words tells it.
 */
export function encodeContent(
  { plain, br, gzip }: Coded,
  accepted = '',
): { body: Buffer; headers: string[] } {
  const vary = ['Vary', 'Accept-Encoding'];
  if (br && weight(accepted, 'br') > 0)
    return { body: br, headers: [...vary, 'Content-Encoding', 'br'] };
  if (gzip && weight(accepted, 'gzip') > 0)
    return { body: gzip, headers: [...vary, 'Content-Encoding', 'gzip'] };
  return { body: plain, headers: vary };
}
