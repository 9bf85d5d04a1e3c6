import { prefixRange, type Range } from '../../../storage/storage.js';
import type { AnyKind, KindObject, Transaction } from '../../kind.js';
import type { Limits } from '../../limits/limit-settings.js';
import { namespacedName } from '../../schema/namespaced-name.js';

/** An object before and after a change; undefined where it does not exist. */
export interface ObjectChange {
  readonly next: KindObject | undefined;
  readonly old: KindObject | undefined;
}

/** A part of an order: its field, and the first and the last value. */
export interface OrderPart {
  readonly field: string;
  readonly first: string;
  readonly last: string;
}

/** The index that `search` reads; an order has the name of its field. */
const searchIndex = 'search';
const maxLetters = 64;
/** Where the word of a text begins that a search may begin with. */
const wordStart = /(?<=[!._+@-])(?=[a-z0-9~])/;
const maxWords = 8;
/** Sorts what has no value last. */
const noValue = '~';

/**
 * Returns a text as indexes sort and find it, in printable ASCII: without case and marks, spaces first,
 * other scripts after Latin.
 */
export function sortKey(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
  const key = plain
    .replaceAll(/\s+/g, '!')
    .replaceAll(
      /[^!a-z0-9@._+-]/gu,
      (letter) => `~${letter.codePointAt(0)!.toString(16).padStart(6, '0')}`,
    );
  return key.slice(0, maxLetters);
}

const indexPrefix = ({ storageName }: AnyKind, index: string): string =>
  `index/${storageName}/${index}/`;

/** Returns the range of the rows of an order, one for each object. */
export const orderRange = (kind: AnyKind, field: string): Range =>
  prefixRange(indexPrefix(kind, field));

/** Returns the part of an order from one value to another, both included. */
export function orderPart(kind: AnyKind, { field, first, last }: OrderPart): Range {
  const prefix = indexPrefix(kind, field);
  return { start: prefix + sortKey(first), end: `${prefix}${sortKey(last)}0` };
}

/** Returns the range of the rows of what a search finds. An object may have several in it. */
export const searchRange = (kind: AnyKind, text: string): Range =>
  prefixRange(indexPrefix(kind, searchIndex) + sortKey(text));

/** Returns the name in the store of the object that a row leads to. */
export const nameOfRow = (rowKey: string): string => rowKey.split('/').slice(4).join('/');

/** Returns the texts that the words of an object begin, each up to its end. */
function searchKeys(kind: AnyKind, object: KindObject): readonly string[] {
  const texts = kind.search?.(object).filter(Boolean) ?? [];
  const keys = texts.flatMap((text) => {
    const words = sortKey(text).split(wordStart);
    return words.map((_, i) => words.slice(i).join(''));
  });
  return [...new Set(keys)].slice(0, maxWords);
}

/** Reports whether a search for a text finds an object. */
export const isFound = (kind: AnyKind, object: KindObject, text: string): boolean =>
  searchKeys(kind, object).some((key) => key.startsWith(sortKey(text)));

/** Returns the keys of all rows of an object, those of search in order. */
export function indexRows(kind: AnyKind, object: KindObject): readonly string[] {
  const name = namespacedName(object.metadata);
  const orders = Object.entries(kind.orders).map(([field, valueOf]) => {
    const value = valueOf(object);
    return `${indexPrefix(kind, field)}${value === undefined ? noValue : sortKey(value)}/${name}`;
  });
  const found = searchKeys(kind, object)
    .map((key) => `${indexPrefix(kind, searchIndex)}${key}/${name}`)
    .sort();
  return [...orders, ...found];
}

/** Writes the rows that an object gets, and removes those that it had. */
export function updateIndexRows(
  tx: Transaction,
  kind: AnyKind,
  { next, old }: ObjectChange,
  limits: Limits,
): void {
  const before = new Set(old && indexRows(kind, old));
  const after = new Set(next && indexRows(kind, next));
  for (const key of before) if (!after.has(key)) tx.remove(key);
  for (const key of after) {
    if (!before.has(key)) tx.write(key, Buffer.alloc(0), kind.expires?.(next!, limits));
  }
}
