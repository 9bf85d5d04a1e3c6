import type { KindObject } from '../kind.js';
import { CallerMetadata } from '../schema/metadata-schema.js';
import { type JSONSchema, toJSONSchema } from '../schema/schema.js';
import { FieldSet } from './field-set.js';
import { fieldSetOf } from './typed-value.js';

/** Returns the schema of the fields of a kind that have owners: those that callers may set. */
export const trackedSchema = (spec: JSONSchema): JSONSchema => ({
  type: 'object',
  properties: { metadata: callerMetadata, spec },
});

const callerMetadata = toJSONSchema(CallerMetadata, 'metadata');

/** Returns the fields of an object that have owners. */
export const trackedFields = ({
  metadata: { labels, annotations, ownerReferences },
  spec,
}: Pick<KindObject, 'metadata' | 'spec'>): TrackedFields => ({
  metadata: {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
  },
  spec,
});

/** The fields of an object that have owners; of an applied configuration, the same by its own. */
export interface TrackedFields {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: unknown;
}

/** Returns the paths of an object's or a configuration's fields, without metadata and spec as such. */
export const trackedPaths = (schema: JSONSchema, fields: TrackedFields): FieldSet =>
  FieldSet.node(
    false,
    [...fieldSetOf(schema, fields).children].map(([element, below]) => [
      element,
      below.withMember(false),
    ]),
  );
