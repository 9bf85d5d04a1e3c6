import type { ApiError } from '../../base/api/api.js';

/** A position in a text; both count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A fault of a text; without a position it concerns the whole. */
export interface Fault {
  readonly message: string;
  readonly position?: TextPosition;
}

/** Returns the faults of a text that the service refused; empty if it was refused otherwise. */
export function faultsOf({ code, details: { causes = [] } }: ApiError): Fault[] {
  if (code !== 422) return [];
  return causes.map(({ message = '' }) => {
    const words = message.replace(/^Invalid value: /, '');
    const [, line, column, rest] = /^line (\d+), column (\d+): ([^]*)$/.exec(words) ?? [];
    return rest === undefined
      ? { message: words }
      : { message: rest, position: { line: Number(line), column: Number(column) } };
  });
}
