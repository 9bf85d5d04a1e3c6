import type { HourlyCount } from '../../api.js';
import { readAll } from '../../base/api/collection.js';
import { useRead } from '../../base/api/use-read.js';
import { useConsole } from './console-context.js';
import { kindOf } from './discovery.js';

/** Reads the counts of the last 24 hours; none for those who may not list them. */
export function useLastDay(): readonly HourlyCount[] {
  const counts = kindOf(useConsole().listed, 'HourlyCount');
  const query = { orderBy: 'status.startTimestamp', limit: '25' };
  const { value } = useRead(counts && (() => readAll<HourlyCount>(counts.path, query, 1)), []);
  return value?.items ?? [];
}
