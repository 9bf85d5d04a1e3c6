import type { z } from 'zod';
import type { EventSource } from './event-source.js';

/** How objects of a kind are found and shown. */
export interface KindPresentation<O> {
  /** The columns of a table, for `kubectl get`. */
  columns: Record<string, Column<O>>;
  /** Fields that a field selector may name, beside the name and the owner, by their path. */
  selectableFields?: Readonly<Record<string, SelectableField<O>>>;
  /**
   * Orders in which a list may be asked for (`orderBy`): the fields by which it is sorted, each with the
   * text of an object; one without sorts last. An index in the store keeps them, two rows for a change.
   */
  orders?: Readonly<Record<string, (object: O) => string | undefined>>;
  /** The texts by whose words an object is found (field selector `search`), kept in an index as well. */
  search?: (object: O) => readonly string[];
  /** Present if the objects are events about other objects. At most one kind has it. */
  events?: EventSource<O>;
  /**
   * Review kinds: objects that are sent to another service, which fills in status. Their name, the
   * fields of the spec that are sent, and the status that is expected.
   */
  webhook?: { name: string; description: string; answer: z.ZodTypeAny };
}

/**
 * A field for field selectors: a unique value, which is found by its reservation, one that says where
 * its objects are in an order, or a function that returns the value, or values, of an object as callers
 * see it at `now` (ms since the epoch).
 */
export type SelectableField<O> =
  | UniqueField
  | OrderedField<O>
  | ((object: O, now: number) => string | boolean | readonly string[] | undefined);

/** A field for field selectors that is compared with a unique value. */
export interface UniqueField {
  readonly unique: string;
  /** Returns the form of a text in which the value is reserved. */
  normalize(text: string): string;
}

/** A field whose value says where in an order the objects are that have it. */
export interface OrderedField<O> {
  /** The order of the kind. */
  readonly order: string;
  value(object: O): string | undefined;
  /** Returns the first and the last value of that order to look at; undefined for all. */
  between(text: string): readonly [first: string, last: string] | undefined;
}

/** A table column; with `wide` it shows in `-o wide` only, with `since` as an age. */
export type Column<O> =
  | ((object: O) => unknown)
  | { wide: (object: O) => unknown }
  | { since: (object: O) => string | null | undefined };
