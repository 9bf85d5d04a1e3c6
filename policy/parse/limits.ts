import type { PolicyFault, TextPosition } from '../../kinds/policy/fault.js';

/**
 * Limits on a text, well below what exhausts the stack of Cedar's parser and evaluator; after a
 * stack overflow the engine never responds again. Wildcards need no limit: `like` backtracks only
 * to its last `*`, and its longest operand is a domain.
 */
export const policyLimits = {
  bytes: 64 << 10,
  rules: 500,
  tokens: 2000,
  operators: 250,
  depth: 32,
  ifs: 32,
  string: 512,
} as const;

/** Each of these adds a nesting level in Cedar, wherever it occurs. */
const nestingTokens = new Set(['&&', '||', '+', '-', '*', '.', '!', 'when', 'unless']);

/** The largest number of faults returned. */
const maxFaults = 32;

const token = /\/\/[^\n]*|\s+|"(?:[^"\\]|\\[^])*"|[A-Za-z_]\w*|\d+|&&|\|\||[=!<>]=|::|[^]/y;

/**
 * Returns the index where each rule starts and everything that exceeds a limit. Reads the text once
 * and checks nothing else.
 */
export function scan(text: string): { starts: number[]; faults: PolicyFault[] } {
  if (Buffer.byteLength(text) > policyLimits.bytes) {
    return {
      starts: [],
      faults: [{ message: `may not be more than ${policyLimits.bytes} bytes` }],
    };
  }
  const starts: number[] = [];
  const faults: PolicyFault[] = [];
  let [depth, tokens, operators, ifs] = [0, 0, 0, 0];
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const index = token.lastIndex;
    const [match] = token.exec(text)!;
    if (/^(\s|\/\/)/.test(match)) continue;
    const report = (message: string): void => {
      faults.push({ message, ...position(text, index) });
    };
    if (match === '"') {
      report('unterminated string');
      break;
    }
    if (faults.length >= maxFaults) break;
    if (tokens === 0 && starts.push(index) === policyLimits.rules + 1) {
      report(`there may be at most ${policyLimits.rules} rules`);
      break;
    }
    tokens += 1;
    if (tokens === policyLimits.tokens + 1) {
      report(`a rule may have at most ${policyLimits.tokens} tokens`);
    }
    if (match.length > policyLimits.string + 2) {
      report(`a string may have at most ${policyLimits.string} characters`);
    }
    if (nestingTokens.has(match) && ++operators === policyLimits.operators + 1) {
      report(`a rule may have at most ${policyLimits.operators} operators`);
    }
    if (match === 'if' && ++ifs === policyLimits.ifs + 1) {
      report(`a rule may have at most ${policyLimits.ifs} if expressions`);
    }
    if ('([{'.includes(match) && ++depth === policyLimits.depth + 1) {
      report(`may be nested at most ${policyLimits.depth} deep`);
    }
    if (')]}'.includes(match)) depth -= 1;
    if (match === ';') [depth, tokens, operators, ifs] = [0, 0, 0, 0];
  }
  return { starts, faults };
}

/** Returns the line and column of an index into a text. */
export function position(text: string, index: number): TextPosition {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 };
}

/** Returns the line and column of an offset in bytes of UTF-8, which Cedar reports. */
export const bytePosition = (text: string, offset: number): TextPosition =>
  position(text, Buffer.from(text).subarray(0, offset).toString().length);
