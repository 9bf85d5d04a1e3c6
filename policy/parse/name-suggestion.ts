import { nearest } from '../../registry/schema/nearest-name.js';
import { contextAttributes } from '../model/context-attributes.js';
import type { Vocabulary } from '../model/vocabulary.js';

/** Cedar's sentences about names that are not in the schema, and the names that may be meant. */
const unknownNames: readonly {
  readonly pattern: RegExp;
  names(vocabulary: Vocabulary, type: string): Iterable<string>;
  print(name: string): string;
}[] = [
  {
    pattern: /unrecognized action `Action::"(?<name>[^`]*)"`$/,
    names: ({ actions, groups }) => [...actions.keys(), ...groups.keys()],
    print: (name) => `Action::${JSON.stringify(name)}`,
  },
  {
    pattern: /unrecognized entity type `(?<name>[^`]*)`$/,
    names: ({ types }) => types.keys(),
    print: (name) => name,
  },
  {
    pattern: /attribute `(?<name>[^`]*)` in context for [^`]* not found$/,
    names: () => Object.keys(contextAttributes),
    print: (name) => name,
  },
  {
    pattern: /attribute `(?<name>[^`]*)` on entity type `(?<type>\w+)` not found$/,
    names: ({ types }, type) => Object.keys(types.get(type)?.attributes ?? {}),
    print: (name) => name,
  },
];

/**
 * Returns `did you mean NAME?` for a name that is not in the vocabulary, or nothing if none is near;
 * undefined for other messages. Cedar's own suggestion is one of the names, however far.
 */
export function suggestionFor(message: string, vocabulary: Vocabulary): string | undefined {
  for (const { pattern, names, print } of unknownNames) {
    const { name, type = '' } = pattern.exec(message)?.groups ?? {};
    if (name === undefined) continue;
    const found = nearest(name.slice(0, 64), [...names(vocabulary, type)]);
    return found === undefined ? '' : `did you mean \`${print(found)}\`?`;
  }
  return undefined;
}
