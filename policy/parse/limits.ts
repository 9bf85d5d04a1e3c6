import type { Place, PolicyFault } from '../../kinds/policy/fault.js';

/**
 * Bounds on a text, well inside what Cedar can bear: past them its parser and evaluator run out of
 * stack, and an engine that did never answers again. Wildcards need none: `like` goes back to its
 * last `*` alone, and nothing that it may be asked of is longer than a domain.
 */
export const bounds = {
  bytes: 64 << 10,
  rules: 500,
  tokens: 2000,
  signs: 250,
  depth: 32,
  ifs: 32,
  text: 512,
} as const;

/** Each of these is another level to Cedar, wherever it stands. */
const levels = new Set(['&&', '||', '+', '-', '*', '.', '!', 'when', 'unless']);

/** Faults told at once. */
const max = 32;

const token = /\/\/[^\n]*|\s+|"(?:[^"\\]|\\[^])*"|[A-Za-z_]\w*|\d+|&&|\|\||[=!<>]=|::|[^]/y;

/**
 * Where a rule begins, and all that is beyond the bounds; reads the text once and judges nothing
 * else.
 */
export function scan(text: string): { starts: number[]; faults: PolicyFault[] } {
  if (Buffer.byteLength(text) > bounds.bytes)
    return { starts: [], faults: [{ message: `may not be more than ${bounds.bytes} bytes` }] };
  const starts: number[] = [];
  const faults: PolicyFault[] = [];
  let [depth, tokens, signs, ifs] = [0, 0, 0, 0];
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const at = token.lastIndex;
    const [piece] = token.exec(text)!;
    if (/^(\s|\/\/)/.test(piece)) continue;
    const wrong = (message: string): void => {
      faults.push({ message, ...position(text, at) });
    };
    if (piece === '"') {
      wrong('this piece of text has no end');
      break;
    }
    if (faults.length >= max) break;
    if (tokens === 0 && starts.push(at) === bounds.rules + 1) {
      wrong(`there may be at most ${bounds.rules} rules`);
      break;
    }
    tokens += 1;
    if (tokens === bounds.tokens + 1)
      wrong(`a rule may have at most ${bounds.tokens} words and signs`);
    if (piece.length > bounds.text + 2)
      wrong(`a piece of text may have at most ${bounds.text} characters`);
    if (levels.has(piece) && ++signs === bounds.signs + 1)
      wrong(`a rule may have at most ${bounds.signs} connecting signs`);
    if (piece === 'if' && ++ifs === bounds.ifs + 1)
      wrong(`a rule may have at most ${bounds.ifs} times if`);
    if ('([{'.includes(piece) && ++depth === bounds.depth + 1)
      wrong(`may be nested at most ${bounds.depth} deep`);
    if (')]}'.includes(piece)) depth -= 1;
    if (piece === ';') [depth, tokens, signs, ifs] = [0, 0, 0, 0];
  }
  return { starts, faults };
}

/** The line and column of an index into a text. */
export function position(text: string, index: number): Place {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 };
}

/** The same of an offset in bytes of UTF-8, as Cedar counts. */
export const bytePosition = (text: string, offset: number): Place =>
  position(text, Buffer.from(text).subarray(0, offset).toString().length);
