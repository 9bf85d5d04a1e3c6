import type { AnyKind, Column, KindObject } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';

interface Definition {
  readonly name: string;
  readonly type: 'string';
  readonly format: '' | 'name';
  readonly description: string;
  readonly priority: 0 | 1;
}

const definition = (
  name: string,
  description: string,
  priority: 0 | 1 = 0,
  format: '' | 'name' = '',
): Definition => ({ name, type: 'string', format, description, priority });

/**
 * Returns the columns of a kind's table: Name, the declared ones, Age. Those with a priority show
 * with `-o wide` (docs/design/kubernetes.md#representations).
 */
export const columnsOf = ({ kind, columns }: AnyKind): Definition[] => [
  definition('Name', 'Name of the object.', 0, 'name'),
  ...Object.entries(columns).map(([name, column]) =>
    definition(name, `${name.replaceAll('-', ' ')} of the ${kind}.`, 'wide' in column ? 1 : 0),
  ),
  definition('Age', 'How long ago it was created.'),
];

/** Returns one object's cells at `now` (ms), in the order of the columns. */
export const cellsOf = (kind: AnyKind, object: KindObject, now: number): string[] => [
  object.metadata.name,
  ...Object.values(kind.columns).map((column) => cell(column, object, now)),
  ageOf(object.metadata.creationTimestamp, now),
];

function cell(column: Column<KindObject>, object: KindObject, now: number): string {
  const since = 'since' in column ? column.since(object) : undefined;
  if (since) return ageOf(since, now);
  const value = valueOf(column, object);
  return value === undefined || value === null || value === '' ? '<none>' : String(value);
}

function valueOf(column: Column<KindObject>, object: KindObject): unknown {
  if (typeof column === 'function') return column(object);
  return 'wide' in column ? column.wide(object) : undefined;
}

function ageOf(timestamp: string, now: number): string {
  const seconds = Math.trunc((now - fromTimestamp(timestamp)) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  return seconds < -1 ? '<invalid>' : duration(Math.max(0, seconds));
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** Formats seconds like kubectl: at most two units, the second omitted if zero. */
export function duration(seconds: number): string {
  const parts = (unit: number, name: string, below: number, belowName: string): string => {
    const rest = Math.floor((seconds % unit) / below);
    return `${Math.floor(seconds / unit)}${name}${rest > 0 ? `${rest}${belowName}` : ''}`;
  };
  const whole = (unit: number, name: string): string => `${Math.floor(seconds / unit)}${name}`;
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return parts(minute, 'm', 1, 's');
  if (seconds < 3 * hour) return whole(minute, 'm');
  if (seconds < 8 * hour) return parts(hour, 'h', minute, 'm');
  if (seconds < 48 * hour) return whole(hour, 'h');
  if (seconds < 8 * day) return parts(day, 'd', hour, 'h');
  if (seconds < 2 * year) return whole(day, 'd');
  return seconds < 8 * year ? parts(year, 'y', day, 'd') : whole(year, 'y');
}
