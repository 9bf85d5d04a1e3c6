import type { Cause, CauseReason } from './status.js';

/** Returns the cause of an invalid field; `detail` follows Kubernetes' own words. */
type FieldError = (field: string, detail?: string) => Cause;

const fieldError =
  (reason: CauseReason, words: string): FieldError =>
  (field, detail) => ({
    reason,
    field,
    message: detail === undefined ? words : `${words}: ${detail}`,
  });

/** Returns the cause for a missing value. */
export const requiredValue = fieldError('FieldValueRequired', 'Required value');

/** Returns the cause for a value that is there already. */
export const duplicateValue = fieldError('FieldValueDuplicate', 'Duplicate value');

/** Returns the cause for a value that must be another. */
export const invalidValue = fieldError('FieldValueInvalid', 'Invalid value');

/** Returns the cause for a value of the wrong type. */
export const invalidType = fieldError('FieldValueTypeInvalid', 'Invalid value');

/** Returns the cause for a value that is none of those supported. */
export const unsupportedValue = fieldError('FieldValueNotSupported', 'Unsupported value');

/** Returns the cause for a field that may not be set. */
export const forbiddenField = fieldError('FieldValueForbidden', 'Forbidden');

/** Returns the cause for a value with too many characters or bytes. */
export const tooLongValue = fieldError('FieldValueTooLong', 'Too long');

/** Returns the cause for a list with too many items. */
export const tooManyItems = fieldError('FieldValueTooMany', 'Too many');
