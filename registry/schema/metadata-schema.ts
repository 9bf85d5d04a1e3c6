import { z } from 'zod';
import { mapList, setList } from './list-type.js';
import { describePattern } from './pattern.js';

const labelKey = describePattern(
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  'must be a label key: at most 63 letters, digits, - _ or ., with an optional domain and a slash before',
);

const finalizerName = describePattern(
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9-_.]{0,61}[A-Za-z0-9])?$/,
  'must be a qualified name: at most 63 letters, digits, - _ or ., with an optional domain and a slash before',
);

/** A lower-case RFC 1123 subdomain: the syntax of object names. */
export const nameGrammar = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The syntax of `generateName`: the beginning of an object name. */
export const generateNameGrammar =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*[-.]?$/;

/** Printable ASCII. */
const identifier = (max: number) =>
  z
    .string()
    .max(max)
    .regex(describePattern(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces'));

/** The metadata that a caller may set (docs/design/kubernetes.md#metadata). */
export const CallerMetadata = z.object({
  labels: z
    .record(
      z.string().max(317).regex(labelKey),
      z
        .string()
        .max(63)
        .regex(
          describePattern(
            /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
            'must be a label value: at most 63 letters, digits, - _ or .',
          ),
        ),
    )
    .optional()
    .describe('Keys and values for selectors.'),
  annotations: z
    .record(z.string().max(317).regex(labelKey), z.string().max(262_144))
    .optional()
    .describe('Arbitrary metadata.'),
  ownerReferences: mapList(
    z.array(
      z.object({
        apiVersion: identifier(317).describe('Group and version of the owner.'),
        kind: identifier(63).describe('Kind of the owner.'),
        name: identifier(253).describe('Name of the owner.'),
        uid: identifier(64).describe('uid of the owner.'),
        controller: z.boolean().optional().describe('It is the managing owner.'),
        blockOwnerDeletion: z
          .boolean()
          .optional()
          .describe('A deletion of the owner in the foreground waits for this one.'),
      }),
    ),
    'uid',
  )
    .max(16)
    .optional()
    .describe('Objects this one depends on.'),
  finalizers: setList(z.array(z.string().max(317).regex(finalizerName)))
    .optional()
    .describe('Who has something to do before the object goes. It goes with the last one.'),
});

/** The metadata of a response (docs/design/api.md#objects). */
export const Metadata = CallerMetadata.extend({
  name: z.string().describe('Name of the object, unique among its kind.'),
  namespace: z.string().optional().describe('The namespace in which its name is unique.'),
  generateName: z
    .string()
    .optional()
    .describe('Prefix of the generated name, as requested when the object was created.'),
  uid: z.string().describe('Unique in time and space.'),
  resourceVersion: z
    .string()
    .describe(
      'The store’s revision of the last change; sent back in a patch for conflict detection.',
    ),
  generation: z.number().int().describe('Rises by one when spec changes.'),
  creationTimestamp: z.string().datetime().describe('When the object was created.'),
  deletionTimestamp: z
    .string()
    .datetime()
    .optional()
    .describe('When the deletion of the object started.'),
  deletionGracePeriodSeconds: z
    .number()
    .int()
    .optional()
    .describe('0 when the deletion of the object started.'),
  managedFields: z
    .array(
      z.object({
        manager: z.string().describe('Its name.'),
        operation: z.enum(['Apply', 'Update']).describe('How it set the fields.'),
        apiVersion: z.string().describe('Group and version of the fields.'),
        time: z.string().datetime().optional().describe('When its fields changed last.'),
        fieldsType: z.literal('FieldsV1').describe('The form of fieldsV1.'),
        fieldsV1: z.object({}).passthrough().describe('The fields, as a tree.'),
        subresource: z.literal('status').optional().describe('Set if they are those of status.'),
      }),
    )
    .optional()
    .describe('The managers of fields; absent until someone applies the object.'),
});
