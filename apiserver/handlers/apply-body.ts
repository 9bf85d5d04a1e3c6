import { clone } from '../../registry/encoded-object.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import { hasContent, setCallerMetadata } from '../../registry/managedfields/apply.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { generateNameGrammar, nameGrammar } from '../../registry/schema/metadata-schema.js';
import { prune } from '../../registry/schema/schema.js';
import { forbiddenField, invalidValue, requiredValue } from '../../registry/status/field-errors.js';
import {
  badRequest,
  type Cause,
  conflict,
  invalid,
  staleVersion,
} from '../../registry/status/status.js';
import type { ViewSchemas } from '../../registry/store/registry-view.js';
import type { KindView } from '../../registry/versions/kind-view.js';
import { applyJSONPatch, type JSONPatch } from '../codec/json-patch.js';
import { applyMergePatch } from '../codec/merge-patch.js';
import { wireObject } from '../codec/object-encoding.js';
import {
  hiddenCharacters,
  metadataFaults,
  requireKind,
  unknownMembers,
} from './field-validation.js';
import { setManagedFields } from './managed-fields.js';

/** Returns the draft of a create body in a namespace; throws 400 or 422 (docs/design/kubernetes.md#writes). */
export function draftOf(
  { kind, names }: KindView,
  body: Record<string, unknown>,
  namespace?: string,
): { metadata: Record<string, unknown>; spec: unknown } {
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  requireNamespace(metadata.namespace, namespace);
  if (metadata.resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const name = metadata.name ?? undefined;
  const causes: Cause[] = [
    ...metadataFaults(kind, metadata),
    ...hiddenCharacters(body.spec, 'spec'),
    ...nameFaults(kind, name, metadata.generateName),
  ];
  if (body.spec === undefined || body.spec === null) causes.push(requiredValue('spec'));
  if (causes.length > 0) throw invalid(kind, typeof name === 'string' ? name : '', causes);
  const { labels, annotations, ownerReferences, finalizers, generateName } = metadata;
  return {
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(generateName !== undefined && kind.nameSource !== 'service' && { generateName }),
      ...withoutEmpty({ labels, annotations, finalizers, ...(!kind.owner && { ownerReferences }) }),
    },
    spec: names?.at('spec')?.toHub(body.spec) ?? body.spec,
  };
}

/**
 * For kinds whose names the service generates, refuses a name and ignores generateName
 * (docs/design/kubernetes.md#metadata).
 */
function nameFaults(kind: AnyKind, name: unknown, generateName: unknown): Cause[] {
  const causes: Cause[] = [];
  if (kind.nameSource === 'service') {
    return name === undefined
      ? []
      : [forbiddenField('metadata.name', 'it is named by the service')];
  }
  if (name === undefined && !generateName) {
    causes.push(requiredValue('metadata.name', 'name or generateName is required'));
  }
  if (
    name !== undefined &&
    (typeof name !== 'string' || name.length > 253 || !nameGrammar.test(name))
  ) {
    causes.push(invalidValue('metadata.name', 'must be a lower case RFC 1123 subdomain'));
  }
  if (
    generateName !== undefined &&
    (typeof generateName !== 'string' || !generateNameGrammar.test(generateName))
  ) {
    causes.push(
      invalidValue('metadata.generateName', 'must begin a lower case RFC 1123 subdomain'),
    );
  }
  return causes;
}

/** What a PUT or PATCH asks for. */
export type Change =
  | { readonly mode: 'replace' | 'merge'; readonly body: Record<string, unknown> }
  | { readonly mode: 'json'; readonly patch: JSONPatch };

/**
 * Applies a PUT or PATCH to `next`, the stored object, as a version has it: everything but status, or
 * with `subresource` status alone. Returns the paths of members that are unknown there. What the
 * version does not have stays as it is.
 */
export function applyBody(
  view: KindView,
  next: KindObject,
  change: Change,
  schemas: ViewSchemas,
  subresource?: 'status',
): string[] {
  const { kind } = view;
  const { mode } = change;
  const desired = desiredObject(view, next, change, subresource);
  const absent = mode === 'replace' ? undefined : null;
  requireKind(
    { apiVersion: desired.apiVersion ?? absent, kind: desired.kind ?? absent },
    { apiVersion: view.apiVersion, kind: kind.kind },
  );
  const unknown = unknownMembers(desired, schemas.spec);
  const metadata = isRecord(desired.metadata) ? desired.metadata : {};
  checkIdentity(kind, next, metadata, mode);
  if (subresource) {
    const status = desired.status ?? {};
    unknown.push(...prune(schemas.status, status, 'status'));
    next.status = sentStatus(view, next, status);
    return unknown;
  }
  const causes = [...metadataFaults(kind, metadata), ...hiddenCharacters(desired.spec, 'spec')];
  if (!isRecord(desired.spec)) causes.push(requiredValue('spec'));
  if (causes.length > 0) throw invalid(kind, next.metadata.name, causes);
  const names = view.names?.at('spec');
  next.spec = names ? names.withHidden(names.toHub(desired.spec), next.spec) : desired.spec;
  setCallerMetadata(next, {
    ...metadata,
    ...(kind.owner && { ownerReferences: next.metadata.ownerReferences }),
  });
  setManagedFields(kind, next, metadata.managedFields);
  return unknown;
}

/** Returns a status that was sent as the hub has it, with what the version hides. */
function sentStatus(
  { kind, names }: KindView,
  { metadata, status }: KindObject,
  sent: unknown,
): unknown {
  const causes = hiddenCharacters(sent, 'status');
  if (causes.length > 0) throw invalid(kind, metadata.name, causes);
  const below = names?.at('status');
  return below ? below.withHidden(below.toHub(sent), status) : sent;
}

/**
 * Returns the object that a change asks for. A JSON patch reaches into every part of the object, so
 * that it gets a copy: of the result only what callers may set is stored.
 */
function desiredObject(
  view: KindView,
  next: KindObject,
  change: Change,
  subresource: string | undefined,
): Record<string, unknown> {
  const { kind } = view;
  if (change.mode === 'json') {
    const desired = applyJSONPatch(clone(wireObject(view, next)), clone(change.patch));
    checkVersion(kind, next, isRecord(desired.metadata) ? desired.metadata : {}, change.mode);
    return desired;
  }
  const body = clone(change.body);
  checkVersion(kind, next, isRecord(body.metadata) ? body.metadata : {}, change.mode);
  const { status: _, ...spec } = body;
  const fields = subresource ? body : spec;
  if (change.mode === 'replace') return fields;
  const live = wireObject(view, next);
  // A merge changes what it gets, and of a status alone the rest has to stay.
  return applyMergePatch(subresource ? clone(live) : live, fields);
}

/** Throws 409 for a stale resourceVersion, and 422 if it is malformed or missing in a PUT. */
export function checkVersion(
  kind: AnyKind,
  next: KindObject,
  metadata: Record<string, unknown>,
  mode: Change['mode'],
): void {
  const version = metadata.resourceVersion;
  if (version === undefined && mode !== 'replace') return;
  const versionError = (message: string): Error =>
    invalid(kind, next.metadata.name, [invalidValue('metadata.resourceVersion', message)]);
  if (version === undefined || version === null || version === '') {
    throw versionError('must be specified for an update');
  }
  if (typeof version !== 'string' || !/^[1-9]\d{0,15}$/.test(version)) {
    throw versionError('must be a decimal string of a positive number');
  }
  if (version !== next.metadata.resourceVersion) throw staleVersion(kind, next.metadata.name);
}

/** Throws 400 if a body names another object than the URL. */
export function requireName(given: unknown, name: string): void {
  if (given !== undefined && given !== name) {
    throw badRequest(
      `the name of the object (${String(given).slice(0, 253)}) does not match the name on the URL`,
    );
  }
}

/** Throws 400 if a body of a namespaced kind names another namespace than the URL. */
export function requireNamespace(given: unknown, namespace: string | undefined): void {
  if (namespace === undefined || !given || given === namespace) return;
  throw badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  );
}

/** Throws 400, 409 or 422 if name, namespace or uid are not those of the object. */
export function checkIdentity(
  kind: AnyKind,
  next: KindObject,
  metadata: Record<string, unknown>,
  mode: Change['mode'],
): void {
  if (metadata.name !== '~') requireName(metadata.name, next.metadata.name);
  requireNamespace(metadata.namespace, next.metadata.namespace);
  if (mode !== 'replace' && metadata.name === undefined) {
    throw badRequest('the name of an object cannot be removed');
  }
  if (metadata.uid === undefined || metadata.uid === null || metadata.uid === next.metadata.uid) {
    return;
  }
  if (mode === 'replace') {
    throw conflict(
      kind,
      next.metadata.name,
      'Precondition failed: uid does not match uid of the object',
    );
  }
  throw invalid(kind, next.metadata.name, [invalidValue('metadata.uid', 'field is immutable')]);
}

/** Returns the members without empty ones. */
const withoutEmpty = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => hasContent(value)));
