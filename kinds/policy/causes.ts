import { invalidValue } from '../../registry/field-errors.js';
import type { Cause } from '../../registry/status.js';
import type { PolicyFault } from './fault.js';

/** Returns faults as causes of a 422 at `spec.cedar`. */
export const causesOf = (faults: readonly PolicyFault[]): Cause[] =>
  faults.map(({ message, line, column }) =>
    invalidValue(
      'spec.cedar',
      `${line === undefined ? '' : `line ${line}, column ${column}: `}${message}`,
    ),
  );
