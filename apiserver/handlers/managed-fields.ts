import { isDeepStrictEqual } from 'node:util';
import type { AnyKind, KindObject, ManagedFieldsEntry } from '../../registry/kind.js';
import { decodeFields } from '../../registry/managedfields/fields-v1.js';
import { isRecord } from '../../registry/schema/is-record.js';
import {
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../registry/status/field-errors.js';
import { type Cause, invalid } from '../../registry/status/status.js';
import { printable } from './field-validation.js';

const field = 'metadata.managedFields';
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/**
 * Replaces the owners of an object's fields by those in a body. `[{}]` removes all; an absent or
 * empty list keeps them, because most clients do not know them. Throws 422 if one is malformed.
 */
export function setManagedFields(kind: AnyKind, next: KindObject, given: unknown): void {
  if (given === undefined || given === null || isDeepStrictEqual(given, [])) return;
  if (isDeepStrictEqual(given, next.metadata.managedFields)) return;
  if (isDeepStrictEqual(given, [{}])) {
    delete next.metadata.managedFields;
    return;
  }
  const causes = Array.isArray(given)
    ? given.flatMap((entry, i) => entryFaults(kind, entry, i))
    : [invalidValue(field, 'must be a list')];
  if (causes.length > 0) throw invalid(kind, next.metadata.name, causes.slice(0, 32));
  next.metadata.managedFields = (given as ManagedFieldsEntry[]).map(
    ({ manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource }) => ({
      manager,
      operation,
      apiVersion,
      ...(time && { time }),
      fieldsType,
      fieldsV1,
      ...(subresource && { subresource }),
    }),
  );
}

function entryFaults(kind: AnyKind, entry: unknown, i: number): Cause[] {
  const at = `${field}[${i}]`;
  if (!isRecord(entry)) return [invalidValue(at, 'must be an object')];
  const { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource } = entry;
  const causes: Cause[] = [];
  if (!isManager(manager)) {
    causes.push(invalidValue(`${at}.manager`, 'must have 1 to 128 printable characters'));
  }
  if (operation !== 'Apply' && operation !== 'Update') {
    causes.push(unsupportedValue(`${at}.operation`, 'supported values: "Apply", "Update"'));
  }
  if (typeof apiVersion !== 'string' || apiVersion === '' || apiVersion.length > 317) {
    causes.push(requiredValue(`${at}.apiVersion`));
  }
  if (fieldsType !== 'FieldsV1') {
    causes.push(unsupportedValue(`${at}.fieldsType`, 'supported values: "FieldsV1"'));
  }
  if (time !== undefined && time !== null && !(typeof time === 'string' && timestamp.test(time))) {
    causes.push(invalidValue(`${at}.time`, 'must be a timestamp such as 2026-01-31T12:00:00Z'));
  }
  const known: unknown[] = [undefined, '', ...(kind.hasStatusSubresource ? ['status'] : [])];
  if (!known.includes(subresource)) {
    const others = kind.hasStatusSubresource ? 'supported values: "status"' : 'it has no owners';
    causes.push(unsupportedValue(`${at}.subresource`, others));
  }
  const fault = fieldsFault(fieldsV1);
  if (fault !== undefined) causes.push(invalidValue(`${at}.fieldsV1`, fault));
  return causes;
}

function fieldsFault(fields: unknown): string | undefined {
  try {
    decodeFields(fields);
    return undefined;
  } catch (error) {
    return (error as Error).message.slice(0, 256);
  }
}

/** Reports whether a value can be the name of a manager. */
const isManager = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= 128 && printable.test(value);

/** The name of a manager that a request does not name. */
const unknownManager = 'unknown';

/**
 * Returns the manager that a write names: by `fieldManager`, or by its program in User-Agent.
 * Browsers are one manager, since all of them name themselves alike.
 */
export function managerOf(
  fieldManager: string | undefined,
  userAgent: string | undefined,
  isBrowser: boolean,
): string {
  if (fieldManager) return fieldManager;
  if (isBrowser) return 'browser';
  const program = /^[^/]{0,128}/.exec(userAgent ?? '')?.[0] ?? '';
  return program !== '' && printable.test(program) ? program : unknownManager;
}
