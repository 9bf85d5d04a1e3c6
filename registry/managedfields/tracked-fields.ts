import type { KindObject } from '../kind.js';
import { CallerMetadata } from '../schema/metadata-schema.js';
import { type JSONSchema, toJSONSchema } from '../schema/schema.js';
import { FieldSet } from './field-set.js';
import { fieldSetOf } from './typed-value.js';

/**
 * Returns the schema of the fields of a kind that have owners: those that callers may set. `status` is
 * that of a status subresource.
 */
export const trackedSchema = (spec: JSONSchema, status?: JSONSchema): JSONSchema => ({
  type: 'object',
  properties: { metadata: callerMetadata, spec, ...(status && { status }) },
});

const callerMetadata = toJSONSchema(CallerMetadata, 'metadata');

/**
 * The parts of an object that are written at paths of their own, and so have owners of their own:
 * metadata with spec, and the subresource status.
 */
export const trackedParts = ({ properties }: JSONSchema): readonly ('status' | undefined)[] =>
  properties?.status ? [undefined, 'status'] : [undefined];

/** Returns the fields of an object that have owners, those of status only with `subresource`. */
export const trackedFields = (
  {
    metadata: { labels, annotations, ownerReferences, finalizers },
    spec,
    status,
  }: Pick<KindObject, 'metadata' | 'spec' | 'status'>,
  subresource?: 'status',
): TrackedFields =>
  subresource
    ? { status }
    : {
        metadata: {
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ...(ownerReferences && { ownerReferences }),
          ...(finalizers && { finalizers }),
        },
        spec,
      };

/** The fields of an object that have owners; of an applied configuration, the same by its own. */
export interface TrackedFields {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** Returns the paths of an object's or a configuration's fields, without its parts as such. */
export const trackedPaths = (schema: JSONSchema, fields: TrackedFields): FieldSet =>
  FieldSet.node(
    false,
    [...fieldSetOf(schema, fields).children].map(([element, below]) => [
      element,
      below.withMember(false),
    ]),
  );
