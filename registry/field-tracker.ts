import type { KindObject } from './object.js';
import type { JSONSchema } from './schema/json-schema.js';
import type { Versioned } from './served-version.js';

/** What a tracker knows of a write. */
export interface TrackedWrite {
  readonly kind: Versioned;
  /** The schema of the fields that have owners. */
  readonly schema: JSONSchema;
  /** The object as it will be stored, with its defaults. */
  readonly next: KindObject;
  /** The object before; undefined if it is new. */
  readonly old: KindObject | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Keeps the owners of fields in writes by one manager (docs/design/apply.md). */
export interface FieldTracker {
  /** Set if the write changes status alone: its schema is checked instead of that of the spec. */
  readonly subresource?: 'status' | undefined;
  /**
   * Sets `metadata.managedFields` of the next object. Throws 409 for a conflict of an apply, and
   * 422 if the owners need too much space.
   */
  track(write: TrackedWrite): void;
}
