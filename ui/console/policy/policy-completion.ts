import vocabulary from './policy-vocabulary.json' with { type: 'json' };

/** A name that can be completed. */
export interface Completion {
  readonly label: string;
  readonly type: string;
  /** What it is, in English. */
  readonly info?: string;
}

/** What can stand at a place, and where the name begins that is being typed. */
export interface Completions {
  readonly from: number;
  readonly options: readonly Completion[];
}

const words = [
  'permit',
  'forbid',
  'when',
  'unless',
  'principal',
  'action',
  'resource',
  'context',
  'is',
  'in',
  'has',
  'like',
  'true',
  'false',
  'if',
  'then',
  'else',
];

const named = (type: keyof typeof vocabulary): Completion[] =>
  Object.entries<string>(vocabulary[type]).map(([label, info]) => ({
    label,
    type,
    ...(info && { info }),
  }));

const actions = { pattern: /\bAction::"([\w/*-]*)$/, options: named('action') };

/** What is before the name that is being typed, outside strings, and the names that can follow it. */
const places: readonly { readonly pattern: RegExp; readonly options: readonly Completion[] }[] = [
  { pattern: /\bcontext(?:\.|\s+has\s+)(\w*)$/, options: named('context') },
  { pattern: /\b(?:principal|resource)(?:\.|\s+has\s+)(\w*)$/, options: named('attribute') },
  { pattern: /\bis\s+(\w*)$/, options: named('type') },
];

const anywhere: readonly Completion[] = [
  ...words.map((label) => ({ label, type: 'keyword' })),
  { label: 'Action', type: 'type' },
  ...named('type'),
];

/** Returns what a line ends in. */
function endOf(line: string): 'string' | 'comment' | 'code' {
  let isInString = false;
  for (let i = 0; i < line.length; i += 1) {
    if (isInString && line[i] === '\\') {
      i += 1;
    } else if (line[i] === '"') {
      isInString = !isInString;
    } else if (!isInString && line.startsWith('//', i)) {
      return 'comment';
    }
  }
  return isInString ? 'string' : 'code';
}

/** Returns where the word begins that a line ends with. */
function wordStart(line: string): number {
  let start = line.length;
  while (start > 0 && /\w/.test(line[start - 1]!)) start -= 1;
  return start;
}

/**
 * Returns the names that can follow a line of a policy, which ends where one types. `hasToBegin` is
 * false if they were asked for: then a name need not have begun.
 */
export function completionsAt(line: string, hasToBegin = true): Completions | undefined {
  const end = endOf(line);
  if (end === 'comment') return undefined;
  for (const { pattern, options } of end === 'string' ? [actions] : places) {
    const typed = pattern.exec(line)?.[1];
    if (typed !== undefined) return { from: line.length - typed.length, options };
  }
  const from = wordStart(line);
  const hasBegun = /[A-Za-z]/.test(line[from] ?? '');
  const isOther = end === 'string' || '.:@'.includes(line[from - 1] ?? ' ');
  if (isOther || (from < line.length ? !hasBegun : hasToBegin)) return undefined;
  return { from, options: anywhere };
}
