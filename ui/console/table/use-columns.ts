import { useConsole } from '../base/console-context.js';
import { useStored } from '../base/stored.js';
import type { DataColumn } from './column.js';

/** The columns to show, as they were chosen in this browser. */
export interface ChosenColumns {
  readonly shown: readonly DataColumn[];
  readonly ids: ReadonlySet<string>;
  toggle: (id: string) => void;
}

/** Returns the columns of a table to show, and a way to choose others. */
export function useColumns(table: string, columns: readonly DataColumn[]): ChosenColumns {
  const { account } = useConsole();
  const { value, set } = useStored<string[]>(account, `columns ${table}`, () => localStorage);
  const ids = new Set(value ?? columns.filter(({ isExtra }) => !isExtra).map(({ id }) => id));
  return {
    ids,
    shown: columns.filter(({ id }, i) => i === 0 || ids.has(id)),
    toggle: (id) => set(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id]),
  };
}
