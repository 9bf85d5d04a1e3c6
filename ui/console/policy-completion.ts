import { vocabulary, type VocabularyEntry } from './policy-vocabulary.gen.js';

/** A name that can be completed. */
export interface Completion extends Pick<VocabularyEntry, 'label' | 'info'> {
  readonly type: string;
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

const named = (of: VocabularyEntry['of']): Completion[] =>
  vocabulary
    .filter((entry) => entry.of === of)
    .map(({ label, info }) => ({ label, type: of, ...(info !== undefined && { info }) }));

/** What is before the name that is being typed, and the names that can follow it. */
const places: readonly { readonly pattern: RegExp; readonly options: readonly Completion[] }[] = [
  { pattern: /\bAction::"([\w/*-]*)$/, options: named('action') },
  { pattern: /\bcontext(?:\.|\s+has\s+)(\w*)$/, options: named('context') },
  { pattern: /\b(?:principal|resource)(?:\.|\s+has\s+)(\w*)$/, options: named('attribute') },
  { pattern: /\bis\s+(\w*)$/, options: named('type') },
  {
    pattern: /(?<![\w."@:])([A-Za-z]\w*)$/,
    options: [
      ...words.map((label) => ({ label, type: 'keyword' })),
      { label: 'Action', type: 'type' },
      ...named('type'),
    ],
  },
];

const isInComment = (line: string): boolean =>
  line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').includes('//');

/** Returns whether a line ends inside a string. */
const isInString = (line: string): boolean =>
  /^[^"]*"/.test(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''));

/**
 * Returns the names that can follow a line of a policy, which ends where one types. `hasToBegin` is
 * false if they were asked for: then a name need not have begun.
 */
export function completionsAt(line: string, hasToBegin = true): Completions | undefined {
  if (isInComment(line)) return undefined;
  for (const { pattern, options } of places) {
    const typed = pattern.exec(line)?.[1];
    if (typed !== undefined) return { from: line.length - typed.length, options };
  }
  if (hasToBegin || isInString(line) || /[\w.:@]$/.test(line)) return undefined;
  return { from: line.length, options: places.at(-1)!.options };
}
