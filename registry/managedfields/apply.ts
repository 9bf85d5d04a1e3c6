import { clone } from '../encoded-object.js';
import type { FieldTracker, TrackedWrite } from '../field-tracker.js';
import type { KindObject } from '../kind.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { toTimestamp } from '../schema/timestamp.js';
import { applyConflict } from '../status/status.js';
import { decodeOwners } from './entries.js';
import { FieldSet } from './field-set.js';
import {
  type FieldConflict,
  type ManagedFields,
  mergeConfiguration,
  ownersAfterApply,
} from './managers.js';
import { type TrackedFields, trackedFields, trackedPaths } from './tracked-fields.js';
import { setOwners } from './update.js';

/** The annotation in which `kubectl apply` keeps what it applied last. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** What a manager applies to an object. */
export interface AppliedConfiguration {
  /** The version that the fields are of. */
  readonly apiVersion: string;
  readonly fields: TrackedFields;
  readonly manager: string;
  /** Whether fields that others own are taken over instead of a conflict. */
  readonly force: boolean;
}

/** Applies a configuration to one object (docs/design/apply.md). May run again after a conflict. */
export class ConfigurationApply implements FieldTracker {
  readonly #schema: JSONSchema;
  readonly #configuration: AppliedConfiguration;
  #owners: readonly ManagedFields[] = [];

  /** `schema` is that of the fields that have owners. */
  constructor(schema: JSONSchema, configuration: AppliedConfiguration) {
    this.#schema = schema;
    this.#configuration = configuration;
  }

  /** Merges the configuration into the live object, in place; `track` must follow. */
  merge(next: KindObject, now: number): void {
    const { apiVersion, fields, manager } = this.#configuration;
    const live = trackedFields(next);
    this.#owners = next.metadata.managedFields
      ? decodeOwners(next.metadata.managedFields, apiVersion)
      : ownersBeforeFirstApply(this.#schema, next, toTimestamp(now));
    const merged = mergeConfiguration(this.#schema, live, fields, this.#owners, manager);
    const { metadata = {}, spec = {} } = clone(merged ?? {}) as Partial<TrackedFields>;
    next.spec = spec;
    setCallerMetadata(next, metadata);
  }

  track(write: TrackedWrite): void {
    const { schema, old, next, now, kind } = write;
    const { fields, manager, force } = this.#configuration;
    const before = old ? trackedFields(old) : { metadata: {}, spec: {} };
    const after = ownersAfterApply(schema, before, trackedFields(next), this.#owners, manager, {
      applied: trackedPaths(schema, fields),
      force,
      time: toTimestamp(now),
    });
    if (after.conflicts) {
      throw applyConflict(
        kind,
        next.metadata.name,
        after.conflicts.map((conflict) => causeOf(conflict, kind.apiVersion)),
      );
    }
    setOwners(write, after.owners);
  }
}

/** Replaces the metadata that callers set; empty members are absent. */
export function setCallerMetadata(
  next: KindObject,
  { labels, annotations, ownerReferences }: Readonly<Record<string, unknown>>,
): void {
  const target = next.metadata as KindObject['metadata'] & Record<string, unknown>;
  for (const [field, value] of Object.entries({ labels, annotations, ownerReferences })) {
    if (hasContent(value)) {
      target[field] = value;
    }
    // `delete` slows later access to an object, so nothing is deleted that is absent.
    else if (target[field] !== undefined) {
      delete target[field];
    }
  }
}

/** Reports whether a member is present, not null and not empty. */
export const hasContent = (value: unknown): boolean =>
  value !== undefined && value !== null && Object.keys(value).length > 0;

/**
 * Returns the owners of an object that no one has applied: `kubectl` owns what its annotation says,
 * `before-first-apply` the rest.
 */
function ownersBeforeFirstApply(
  schema: JSONSchema,
  object: KindObject,
  time: string,
): ManagedFields[] {
  const all = trackedPaths(schema, trackedFields(object));
  const applied = lastApplied(schema, object).intersection(all);
  const owners: ManagedFields[] = [
    { manager: 'kubectl', operation: 'Apply', time, fields: applied },
    { manager: 'before-first-apply', operation: 'Update', time, fields: all.difference(applied) },
  ];
  return owners.filter(({ fields }) => !fields.isEmpty);
}

function lastApplied(schema: JSONSchema, { metadata }: KindObject): FieldSet {
  try {
    const { metadata: { labels, annotations } = {}, spec } = JSON.parse(
      metadata.annotations?.[lastAppliedAnnotation] ?? '{}',
    ) as { metadata?: Record<string, unknown>; spec?: unknown };
    return trackedPaths(schema, { metadata: { labels, annotations }, spec });
  } catch {
    return FieldSet.empty; // Anyone may write the annotation; what cannot be read says nothing.
  }
}

function causeOf({ manager, operation, time, field }: FieldConflict, apiVersion: string) {
  const update = `using ${apiVersion}${time === undefined ? '' : ` at ${time}`}`;
  const by =
    operation === 'Update' ? `${JSON.stringify(manager)} ${update}` : JSON.stringify(manager);
  return { reason: 'FieldManagerConflict' as const, message: `conflict with ${by}`, field, by };
}
