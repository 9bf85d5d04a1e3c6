import { invalidValue } from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';
import type { PolicyFault } from './fault.js';

/** Returns a fault with its position in the text. */
export const faultText = ({ message, line, column }: PolicyFault): string =>
  `${line === undefined ? '' : `line ${line}, column ${column}: `}${message}`;

/** Returns faults as causes of a 422 at `spec.cedar`. */
export const causesOf = (faults: readonly PolicyFault[]): Cause[] =>
  faults.map((fault) => invalidValue('spec.cedar', faultText(fault)));
