/**
 * A scope constraint on principal, action or resource: anything, one type, some entities, or
 * something that is not shown in words.
 */
export type ScopeConstraint =
  | { readonly is: 'any' | 'other' }
  | { readonly is: 'type'; readonly type: string }
  | {
      readonly is: 'names';
      readonly of: readonly { readonly type: string; readonly id: string }[];
    };

/** A rule in the text: its lines, counted from 1, the comment directly above it, and its scope. */
export interface RuleText {
  /** Its `@id`, or `ruleN` for the N-th rule, as the service names it. */
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly first: number;
  readonly last: number;
  readonly comment: string;
  /** The heading between dashes that the rule is under; empty if there is none. */
  readonly heading: string;
  readonly who: ScopeConstraint;
  readonly does: ScopeConstraint;
  readonly what: ScopeConstraint;
  /** The conditions as Cedar text; empty if there are none. */
  readonly condition: string;
}

const tokenPattern = /\/\/[^\n]*|\s+|"(?:[^"\\]|\\[^])*"?|[A-Za-z_]\w*|::|==|[^]/g;
const isSpace = (piece: string): boolean => /^(\s|\/\/)/.test(piece);

/** The tokens of a rule and their offsets, without comments and spaces. */
interface TokenizedRule {
  pieces: string[];
  offsets: number[];
}

function tokenize(text: string): TokenizedRule[] {
  const rules: TokenizedRule[] = [];
  let open: TokenizedRule | undefined;
  for (const { 0: piece, index } of text.matchAll(tokenPattern)) {
    if (isSpace(piece)) continue;
    if (!open) rules.push((open = { pieces: [], offsets: [] }));
    open.pieces.push(piece);
    open.offsets.push(index);
    if (piece === ';') open = undefined;
  }
  return rules;
}

/** Returns a Cedar string without quotes; escapes that JSON does not know stay unchanged. */
function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Parses one of the three scope constraints of a rule. */
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

/** Returns the change in bracket depth at a token. */
function depthChange(piece: string): number {
  if ('([{'.includes(piece)) return 1;
  return ')]}'.includes(piece) ? -1 : 0;
}

/** Returns the three scope constraints of a rule and the index of the closing parenthesis. */
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
    if (piece === ',' && depth === 0) {
      parts.push([]);
    } else {
      parts.at(-1)!.push(piece);
    }
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

/** Returns the name of the rule with a number, and what it does if it applies. */
function identityOf(pieces: readonly string[], number: number): Pick<RuleText, 'id' | 'effect'> {
  const at = pieces.findIndex((piece, i) => piece === '@' && pieces[i + 1] === 'id');
  const isForbid = pieces.some((piece, i) => piece === 'forbid' && pieces[i - 1] !== '@');
  return {
    id: at < 0 ? `rule${number}` : unquote(pieces[at + 3] ?? ''),
    effect: isForbid ? 'forbid' : 'permit',
  };
}

/** Returns the comment directly above a line; a heading between dashes is not one. */
function commentAbove(lines: readonly string[], first: number): string {
  const words: string[] = [];
  for (let i = first - 2; i >= 0 && /^\s*\/\//.test(lines[i]!); i -= 1) {
    words.unshift(lines[i]!.replace(/^\s*\/\/+\s?/, ''));
  }
  return words.some((line) => /--/.test(line)) ? '' : words.join(' ').trim();
}

/** Returns the last heading above a line, such as `// ---- What people may do ----`. */
function headingAbove(lines: readonly string[], first: number): string {
  for (let i = first - 2; i >= 0; i -= 1) {
    const line = lines[i]!.trim();
    if (line.startsWith('// --') && line.endsWith('--')) {
      return line
        .slice(3)
        .split(' ')
        .filter((word) => !/^-*$/.test(word))
        .join(' ');
    }
  }
  return '';
}

/** Returns the rules of a text that the service has accepted, in order. */
export function rulesIn(text: string): RuleText[] {
  const lines = text.split('\n');
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length;
  return tokenize(text).map(({ pieces, offsets: places }, i) => {
    const first = lineOf(places[0]!);
    const { end, ...parts } = parseScope(pieces);
    const condition = text.slice((places[end] ?? 0) + 1, places.at(-1)).trim();
    return {
      ...identityOf(pieces, i + 1),
      first,
      last: lineOf(places.at(-1)!),
      comment: commentAbove(lines, first),
      heading: headingAbove(lines, first),
      ...parts,
      condition,
    };
  });
}

/** Returns rules in order, together while they are under the same heading of the text. */
export function groupsOf<T>(
  rules: readonly T[],
  headingOf: (rule: T) => string,
): readonly { readonly heading: string; readonly rules: readonly T[] }[] {
  const groups: { heading: string; rules: T[] }[] = [];
  for (const rule of rules) {
    const heading = headingOf(rule);
    const last = groups.at(-1);
    if (last?.heading === heading) {
      last.rules.push(rule);
    } else {
      groups.push({ heading, rules: [rule] });
    }
  }
  return groups;
}
