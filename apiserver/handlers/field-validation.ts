import type { AnyKind, Verb } from '../../registry/kind.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { hasInvisibleCharacters } from '../../registry/schema/line-of-text.js';
import { CallerMetadata } from '../../registry/schema/metadata-schema.js';
import { type JSONSchema, prune, toJSONSchema, Validator } from '../../registry/schema/schema.js';
import {
  forbiddenField,
  invalidValue,
  tooLongValue,
  unsupportedValue,
} from '../../registry/status/field-errors.js';
import { badRequest, type Cause, invalid, type KindNames } from '../../registry/status/status.js';
import { emptyQuery } from '../codec/query.js';
import { isBrowser } from '../http/headers.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { warningHeader } from '../http/warning.js';
import { optionsKind } from '../request/options-kind.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

const metadataSchema = toJSONSchema(CallerMetadata, 'metadata');
const callerMetadata = new Validator(metadataSchema);
const knownMetadata = new Set([
  'name',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
  'namespace',
  'selfLink',
]);
/** Text without control and separator characters. */
export const printable = /^[^\p{C}\p{Zl}\p{Zp}]*$/u;
const knownMembers = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

/**
 * Throws 400 if the body claims another kind or version, or if its metadata or status is a value
 * other than an object; null counts as absent.
 */
export function requireKind(
  body: Record<string, unknown>,
  { apiVersion, kind }: Pick<AnyKind, 'apiVersion' | 'kind'>,
): void {
  if (body.apiVersion !== undefined && body.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data does not match the expected API version (${apiVersion})`,
    );
  }
  if (body.kind !== undefined && body.kind !== kind) {
    throw badRequest(`the kind in the data does not match the expected kind (${kind})`);
  }
  for (const member of ['metadata', 'status'] as const) {
    if (!isRecord(body[member] ?? {})) throw badRequest(`${member} must be an object`);
  }
}

/** Removes members that Kubernetes' decoder takes for absent ones: typed clients send them. */
function dropUnset(from: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(from)) {
    if (value === null || value === '') delete from[name];
  }
}

/**
 * Removes unknown members from a body and returns their paths: of the top level, of metadata and,
 * by `schema`, of spec. Removes unset ones of metadata.
 */
export function unknownMembers(body: Record<string, unknown>, schema: JSONSchema): string[] {
  const unknown: string[] = [];
  const dropUnknown = (
    from: Record<string, unknown>,
    known: ReadonlySet<string>,
    at: string,
  ): void => {
    for (const name of Object.keys(from)) {
      if (!known.has(name)) {
        delete from[name];
        unknown.push(`${at}${name}`);
      }
    }
  };
  dropUnknown(body, knownMembers, '');
  if (isRecord(body.metadata)) {
    dropUnknown(body.metadata, knownMetadata, 'metadata.');
    dropUnset(body.metadata);
    const { ownerReferences } = body.metadata;
    const { ownerReferences: ofOwners = {} } = metadataSchema.properties ?? {};
    unknown.push(...prune(ofOwners, ownerReferences, 'metadata.ownerReferences'));
    if (Array.isArray(ownerReferences)) ownerReferences.filter(isRecord).forEach(dropUnset);
  }
  return [...unknown, ...prune(schema, body.spec, 'spec')];
}

/**
 * Applies fieldValidation to unknown members of a body of kind `of`
 * (docs/design/kubernetes.md#field-validation). May run again after a conflict.
 */
export function checkUnknownFields(
  req: ApiRequest,
  res: ApiResponse,
  { query, kind, verb }: ResourceRequestInfo,
  name: string,
  unknown: readonly string[],
  of: KindNames = kind,
): void {
  if (query !== emptyQuery) checkWriteParameters(query, verb);
  if (query.has('force') && req.method === 'PATCH') {
    throw invalid(optionsKind(verb), '', [
      forbiddenField('force', 'may not be specified for non-apply patch'),
    ]);
  }
  if (unknown.length === 0) return;
  const mode = query.get('fieldValidation') ?? 'Warn';
  if (isBrowser(req)) {
    const causes = unknown.slice(0, 32).map((field) => forbiddenField(field, 'unknown field'));
    throw Object.assign(invalid(of, name, causes), { hasFieldsAsSent: true });
  }
  if (mode === 'Strict') {
    throw badRequest(
      `strict decoding error: ${unknown.map((field) => `unknown field "${field}"`).join(', ')}`,
    );
  }
  if (mode === 'Warn') {
    res.setHeader(
      'Warning',
      [...new Set(unknown.slice(0, 20))].map((field) =>
        warningHeader(`unknown field "${field.replace(/["\\]/g, '?').slice(0, 128)}"`),
      ),
    );
  }
}

/**
 * Throws 422 for malformed parameters of writes, so that a mistake is not taken for a choice
 * (docs/design/kubernetes.md#field-validation).
 */
export function checkWriteParameters(query: ResourceRequestInfo['query'], verb: Verb): void {
  const optionsName = optionsKind(verb);
  const mode = query.get('fieldValidation') ?? 'Warn';
  const fieldManager = query.get('fieldManager') ?? '';
  if (!['Ignore', 'Warn', 'Strict'].includes(mode)) {
    throw invalid(optionsName, '', [
      unsupportedValue('fieldValidation', 'supported values: "Ignore", "Warn", "Strict"'),
    ]);
  }
  if (fieldManager.length > 128) {
    throw invalid(optionsName, '', [
      tooLongValue('fieldManager', 'may not be more than 128 bytes'),
    ]);
  }
  if (!printable.test(fieldManager)) {
    throw invalid(optionsName, '', [
      invalidValue('fieldManager', 'should only contain printable characters'),
    ]);
  }
}

const callerFields = ['labels', 'annotations', 'ownerReferences', 'finalizers'];

/** Returns the faults of metadata that the caller may set. */
export function metadataFaults(kind: AnyKind, metadata: Record<string, unknown>): Cause[] {
  if (!callerFields.some((member) => member in metadata)) return [];
  const checked = {
    ...(metadata.labels !== null && { labels: metadata.labels }),
    ...(metadata.annotations !== null && { annotations: metadata.annotations }),
    ...(metadata.ownerReferences !== null && { ownerReferences: metadata.ownerReferences }),
    ...(kind.allowsFinalizers &&
      metadata.finalizers !== null && { finalizers: metadata.finalizers }),
  };
  const causes = callerMetadata.check(JSON.parse(JSON.stringify(checked)), 'metadata');
  if (
    Array.isArray(metadata.ownerReferences) &&
    metadata.ownerReferences.filter(
      (ownerReference) => isRecord(ownerReference) && ownerReference.controller === true,
    ).length > 1
  ) {
    causes.push(invalidValue('metadata.ownerReferences', 'only one owner may be the controller'));
  }
  const { finalizers } = metadata;
  if (!kind.allowsFinalizers && Array.isArray(finalizers) && finalizers.length > 0) {
    causes.push(forbiddenField('metadata.finalizers', 'finalizers are not served'));
  }
  if (
    Object.values(metadata.annotations ?? {}).reduce(
      (sum, text) => sum + Buffer.byteLength(String(text)),
      0,
    ) > 262_144
  ) {
    causes.push(tooLongValue('metadata.annotations', 'may not be more than 262144 bytes'));
  }
  return causes;
}

/**
 * Returns a cause for each string with invisible characters other than tabs and ends of lines,
 * anywhere below `value`.
 */
export function hiddenCharacters(value: unknown, path: string): Cause[] {
  if (typeof value === 'string') {
    return hasInvisibleCharacters(value)
      ? [invalidValue(path, 'has control, format or other invisible characters')]
      : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => hiddenCharacters(item, `${path}[${i}]`));
  }
  if (!isRecord(value)) return [];
  const causes: Cause[] = [];
  for (const name of Object.keys(value)) {
    causes.push(...hiddenCharacters(value[name], `${path}.${name}`));
  }
  return causes;
}

/** Parses dryRun from query and options; only All is supported. */
export function isDryRun(
  requestInfo: { query: ReadonlyMap<string, string>; verb: Verb },
  options: readonly unknown[] = [],
): boolean {
  const given = requestInfo.query.get('dryRun');
  const values = [...(given === undefined ? [] : [given]), ...options];
  if (values.some((value) => value !== 'All')) {
    throw invalid(optionsKind(requestInfo.verb), '', [
      unsupportedValue('dryRun', 'supported values: "All"'),
    ]);
  }
  return values.length > 0;
}
