import { clone } from '../encoded-object.js';
import type { FieldTracker, TrackedWrite } from '../field-tracker.js';
import type { KindObject } from '../kind.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { toTimestamp } from '../schema/timestamp.js';
import type { Versioned } from '../served-version.js';
import { applyConflict } from '../status/status.js';
import { type KindView, viewsOf } from '../versions/kind-view.js';
import { decodeOwners } from './entries.js';
import { FieldSet } from './field-set.js';
import {
  type FieldConflict,
  type ManagedFields,
  mergeConfiguration,
  ownersAfterApply,
} from './managers.js';
import { type TrackedFields, trackedFields, trackedParts, trackedPaths } from './tracked-fields.js';
import { setOwners } from './update.js';

/** The annotation in which `kubectl apply` keeps what it applied last. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** What a manager applies to an object. */
export interface AppliedConfiguration {
  /** The kind as the version has it in which it was written. */
  readonly view: KindView;
  /** With the names of the hub. */
  readonly fields: TrackedFields;
  readonly manager: string;
  /** Whether fields that others own are taken over instead of a conflict. */
  readonly force: boolean;
  /** Set if the fields are those of status. */
  readonly subresource?: 'status' | undefined;
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

  get subresource(): 'status' | undefined {
    return this.#configuration.subresource;
  }

  /** Merges the configuration into the live object, in place; `track` must follow. */
  merge(next: KindObject, now: number): void {
    const { view, fields, manager, subresource } = this.#configuration;
    const live = trackedFields(next, subresource);
    this.#owners = next.metadata.managedFields
      ? decodeOwners(next.metadata.managedFields, view.kind)
      : ownersBeforeFirstApply(view.kind, this.#schema, next, toTimestamp(now));
    const merged = mergeConfiguration(
      this.#schema,
      live,
      fields,
      this.#owners,
      manager,
      subresource,
    );
    const { metadata = {}, spec = {}, status = {} } = clone(merged ?? {}) as TrackedFields;
    if (subresource) {
      next.status = status;
      return;
    }
    next.spec = spec;
    setCallerMetadata(next, metadata);
  }

  track(write: TrackedWrite): void {
    const { schema, old, next, now, kind } = write;
    const { view, fields, manager, force, subresource } = this.#configuration;
    const before = old ? trackedFields(old, subresource) : { metadata: {}, spec: {} };
    const written = trackedFields(next, subresource);
    const after = ownersAfterApply(schema, before, written, this.#owners, manager, {
      applied: trackedPaths(schema, fields),
      force,
      apiVersion: view.apiVersion,
      subresource,
      time: toTimestamp(now),
    });
    if (after.conflicts) {
      throw applyConflict(
        kind,
        next.metadata.name,
        after.conflicts.map((conflict) => causeOf(conflict, view)),
      );
    }
    setOwners(write, after.owners);
  }
}

/** Replaces the metadata that callers set; empty members are absent. */
export function setCallerMetadata(
  next: KindObject,
  { labels, annotations, ownerReferences, finalizers }: Readonly<Record<string, unknown>>,
): void {
  const target = next.metadata as KindObject['metadata'] & Record<string, unknown>;
  const members = { labels, annotations, ownerReferences, finalizers };
  for (const [field, value] of Object.entries(members)) {
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
  kind: Versioned,
  schema: JSONSchema,
  object: KindObject,
  time: string,
): ManagedFields[] {
  const all = trackedPaths(schema, trackedFields(object));
  const applied = lastApplied(kind, schema, object).intersection(all);
  const owners: ManagedFields[] = [
    { manager: 'kubectl', operation: 'Apply', time, fields: applied },
    { manager: 'before-first-apply', operation: 'Update', time, fields: all.difference(applied) },
    ...trackedParts(schema).flatMap((subresource): ManagedFields[] => {
      const fields = trackedPaths(schema, trackedFields(object, subresource));
      const manager = 'before-first-apply';
      return subresource ? [{ manager, operation: 'Update', subresource, time, fields }] : [];
    }),
  ];
  return owners.filter(({ fields }) => !fields.isEmpty);
}

function lastApplied(kind: Versioned, schema: JSONSchema, { metadata }: KindObject): FieldSet {
  try {
    const {
      apiVersion,
      metadata: { labels, annotations } = {},
      ...applied
    } = JSON.parse(metadata.annotations?.[lastAppliedAnnotation] ?? '{}') as {
      apiVersion?: string;
      metadata?: Record<string, unknown>;
      spec?: unknown;
    };
    const view = viewsOf(kind).find((served) => served.apiVersion === apiVersion);
    const spec = view?.names?.at('spec')?.toHub(applied.spec) ?? applied.spec;
    return trackedPaths(schema, { metadata: { labels, annotations }, spec });
  } catch {
    return FieldSet.empty; // Anyone may write the annotation; what cannot be read says nothing.
  }
}

function causeOf(conflict: FieldConflict, view: KindView) {
  const { manager, operation, apiVersion = view.kind.apiVersion, time, subresource } = conflict;
  const field = view.names?.path(conflict.field) ?? conflict.field;
  const where = subresource ? `with subresource ${JSON.stringify(subresource)} ` : '';
  const update = `${where}using ${apiVersion}${time === undefined ? '' : ` at ${time}`}`;
  const by =
    operation === 'Update' ? `${JSON.stringify(manager)} ${update}` : JSON.stringify(manager);
  return { reason: 'FieldManagerConflict' as const, message: `conflict with ${by}`, field, by };
}
