/** The media ranges that an HTML page satisfies, and those that JSON does; the most specific first. */
const htmlRanges = ['text/html', 'application/xhtml+xml', 'text/*'];
const jsonRanges = ['application/json', 'application/*', '*/*'];

interface Weighed {
  readonly type: string;
  readonly quality: number;
  readonly at: number;
}

function parseRange(range: string, at: number): Weighed {
  const [type = '', ...parameters] = range.toLowerCase().split(';');
  const quality = parameters
    .map((parameter) => /^\s*q\s*=(.*)$/.exec(parameter)?.[1])
    .find(Boolean);
  return { type: type.trim(), quality: quality === undefined ? 1 : Number(quality) || 0, at };
}

/** Returns what the header says of the first of these ranges that it names. */
const preferenceFor = (
  weighed: readonly Weighed[],
  ranges: readonly string[],
): Weighed | undefined =>
  ranges.map((range) => weighed.find(({ type }) => type === range)).find(Boolean);

/**
 * Reports whether an Accept header prefers a page to JSON (RFC 9110 §12.5.1): it names HTML with a
 * greater quality value than JSON, or with the same one and earlier. A header that accepts
 * everything alike does not.
 */
export function prefersHTML(accept: string | undefined): boolean {
  const ranges = (accept ?? '').slice(0, 4096).split(',').map(parseRange);
  const html = preferenceFor(ranges, htmlRanges);
  const json = preferenceFor(ranges, jsonRanges);
  if (!html || html.quality === 0) return false;
  if (!json || html.quality !== json.quality) return html.quality > (json?.quality ?? 0);
  return json.type !== 'application/json' || html.at < json.at;
}
