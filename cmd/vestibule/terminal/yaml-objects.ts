import { type Document, LineCounter, parseAllDocuments, visit } from 'yaml';
import { errorMessage } from './thrown.js';

/** An object of a file, and where it begins. */
export interface PlacedObject {
  /** Such as `line 4`, or `line 1: items[2]` in a List. */
  readonly place: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** How often aliases may repeat what they name: enough for people, too few to fill memory. */
const maxAliasCount = 100;

/**
 * Returns the objects of a text as kubectl reads a file: YAML or JSON, several documents, empty ones
 * left out, aliases and merge keys resolved, a List as its items. Throws with the line of what
 * cannot be read.
 */
export function readYAMLObjects(text: string): PlacedObject[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text.replace(/^\uFEFF/, ''), {
    schema: 'core',
    merge: true,
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter,
  });
  return [...documents].flatMap((document) => {
    const [fault] = document.errors;
    if (fault) throw new Error(`line ${lineCounter.linePos(fault.pos[0]).line}: ${fault.message}`);
    visit(document, {
      Alias(_, alias, path) {
        const named = alias.resolve(document);
        if (named && path.includes(named)) {
          throw new Error(
            `line ${lineCounter.linePos(alias.range![0]).line}: *${alias.source} is within what it names`,
          );
        }
      },
    });
    const at = (document.contents as { range?: [number, number, number] } | null)?.range?.[0] ?? 0;
    return objectsIn(valueOf(document, lineCounter.linePos(at).line), {
      place: `line ${lineCounter.linePos(at).line}`,
    });
  });
}

function valueOf(document: Document, line: number): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    throw new Error(`line ${line}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Where a value is, and the kind of the items if the list has one of its own. */
interface Place {
  readonly place: string;
  readonly apiVersion?: unknown;
  readonly kind?: string;
}

/** Returns the objects that a document or an item of a List has. */
function objectsIn(value: unknown, { place, ...typed }: Place): PlacedObject[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new Error(`${place}: is no object with apiVersion and kind`);
  }
  const object = { ...typed, ...value } as Readonly<Record<string, unknown>>;
  const { kind, apiVersion, items } = object;
  if (typeof kind !== 'string' || kind === '') throw new Error(`${place}: kind is missing`);
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    throw new Error(`${place}: apiVersion is missing, of a ${kind}`);
  }
  if (!kind.endsWith('List') || (items === undefined && kind !== 'List')) {
    return [{ place, object }];
  }
  if (items === null || items === undefined) return [];
  if (!Array.isArray(items)) throw new Error(`${place}: items must be a list, of a ${kind}`);
  const ofItems = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.flatMap((item, i) =>
    objectsIn(item, { place: `${place}: items[${i}]`, ...ofItems }),
  );
}
