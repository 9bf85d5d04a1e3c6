/**
 * What a rule says of callers, of actions or of objects: everything, one type, one of several
 * names, or more than fits in words.
 */
export type ScopeConstraint =
  | { readonly is: 'any' | 'other' }
  | { readonly is: 'type'; readonly type: string }
  | {
      readonly is: 'names';
      readonly of: readonly { readonly type: string; readonly id: string }[];
    };

/**
 * A rule as it stands in the text: its lines, counted from 1, the comment right above it, and its
 * head.
 */
export interface RuleText {
  readonly first: number;
  readonly last: number;
  readonly comment: string;
  readonly who: ScopeConstraint;
  readonly does: ScopeConstraint;
  readonly what: ScopeConstraint;
  /** What must be the case besides, as it stands there; empty where nothing must. */
  readonly condition: string;
}

const tokenPattern = /\/\/[^\n]*|\s+|"(?:[^"\\]|\\[^])*"?|[A-Za-z_]\w*|::|==|[^]/g;
const isSpace = (piece: string): boolean => /^(\s|\/\/)/.test(piece);

/** The pieces of a rule and where each begins; comments and spaces are left out. */
interface TokenizedRule {
  pieces: string[];
  offsets: number[];
}

function tokenize(text: string): TokenizedRule[] {
  const all: TokenizedRule[] = [];
  let open: TokenizedRule | undefined;
  for (const { 0: piece, index } of text.matchAll(tokenPattern)) {
    if (isSpace(piece)) continue;
    if (!open) all.push((open = { pieces: [], offsets: [] }));
    open.pieces.push(piece);
    open.offsets.push(index);
    if (piece === ';') open = undefined;
  }
  return all;
}

/**
 * A string of the policy language without its quotes; escapes that are none of JSON's stay as they
 * are.
 */
function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Reads one of the three parts between the parentheses of a rule. */
function parseConstraint([, ...rest]: readonly string[]): ScopeConstraint {
  if (rest.length === 0) return { is: 'any' };
  if (rest[0] === 'is' && rest.length === 2) return { is: 'type', type: rest[1]! };
  const tokens = rest.slice(1).filter((piece) => !'[],'.includes(piece));
  const names = tokens.flatMap((piece, i) =>
    piece === '::' && tokens[i + 1]?.startsWith('"')
      ? [{ type: tokens[i - 1]!, id: unquote(tokens[i + 1]!) }]
      : [],
  );
  const whole =
    (rest[0] === '==' || rest[0] === 'in') &&
    names.length > 0 &&
    tokens.length === names.length * 3;
  return whole ? { is: 'names', of: names } : { is: 'other' };
}

/** How much deeper the brackets are after a piece. */
function depthChange(piece: string): number {
  if ('([{'.includes(piece)) return 1;
  return ')]}'.includes(piece) ? -1 : 0;
}

/**
 * The three parts between the first parentheses after the annotations, and the piece that these end
 * with.
 */
function parseScope(
  pieces: readonly string[],
): Pick<RuleText, 'who' | 'does' | 'what'> & { end: number } {
  const open = pieces.findIndex(
    (piece, i) =>
      piece === '(' && /^(permit|forbid)$/.test(pieces[i - 1]!) && pieces[i - 2] !== '@',
  );
  const parts: string[][] = [[]];
  let [at, depth] = [open + 1, 0];
  for (; at < pieces.length && (depth > 0 || pieces[at] !== ')'); at += 1) {
    const piece = pieces[at]!;
    depth += depthChange(piece);
    if (piece === ',' && depth === 0) parts.push([]);
    else parts.at(-1)!.push(piece);
  }
  const [who = ['', ''], does = ['', ''], what = ['', '']] = parts.filter(
    (part) => part.length > 0,
  );
  return {
    who: parseConstraint(who),
    does: parseConstraint(does),
    what: parseConstraint(what),
    end: at,
  };
}

/** The comment that ends right above a line; a headline between dashes is none. */
function commentAbove(lines: readonly string[], first: number): string {
  const words: string[] = [];
  for (let i = first - 2; i >= 0 && /^\s*\/\//.test(lines[i]!); i -= 1)
    words.unshift(lines[i]!.replace(/^\s*\/\/+\s?/, ''));
  return words.some((line) => /--/.test(line)) ? '' : words.join(' ').trim();
}

/** The rules of a text that the service has accepted, in their order. */
export function rulesIn(text: string): RuleText[] {
  const lines = text.split('\n');
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length;
  return tokenize(text).map(({ pieces, offsets: places }) => {
    const first = lineOf(places[0]!);
    const { end, ...parts } = parseScope(pieces);
    const condition = text.slice((places[end] ?? 0) + 1, places.at(-1)).trim();
    return {
      first,
      last: lineOf(places.at(-1)!),
      comment: commentAbove(lines, first),
      ...parts,
      condition,
    };
  });
}
