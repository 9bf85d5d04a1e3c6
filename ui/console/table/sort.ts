import { locale } from '../../base/text/i18n.js';
import type { Row } from '../base/table.js';
import type { DataColumn } from './column.js';

/** The order of rows: by a column, and in which direction. */
export interface Sort {
  readonly id: string;
  readonly isDescending: boolean;
}

/** Reads the order from the address: `sort=name`, or `sort=-name` for the other direction. */
export function sortOf(query: URLSearchParams): Sort | undefined {
  const [, minus, id] = /^(-?)(.+)$/.exec(query.get('sort') ?? '') ?? [];
  return id ? { id, isDescending: minus === '-' } : undefined;
}

/** Returns the order after a press on a column: ascending, then descending, then as it was. */
export function nextSort({ id }: DataColumn, current: Sort | undefined): string | undefined {
  if (current?.id !== id) return id;
  return current.isDescending ? undefined : `-${id}`;
}

/** Returns rows in an order; numbers in texts count as numbers, and what is absent comes last. */
export function sorted(
  rows: readonly Row[],
  columns: readonly DataColumn[],
  sort: Sort | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sort?.id);
  if (!column || column.orderBy) return rows;
  const { compare } = new Intl.Collator(locale(), { numeric: true });
  const isAbsent = (text: string): boolean => text === '' || text === '<none>';
  const direction = sort?.isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, text: column.text(row) }))
    .sort((one, other) => {
      const absent = Number(isAbsent(one.text)) - Number(isAbsent(other.text));
      return absent || direction * compare(one.text, other.text);
    })
    .map(({ row }) => row);
}
