import { useEffect, useState } from 'preact/hooks';
import type { Kind } from '../base/kind.js';
import { useTable, type LiveTable, type Row } from '../base/table.js';
import { decisionOf } from './activity-words.js';

/** The field by which activity is listed, newest first. */
export const activityOrder = 'status.lastTimestamp';

const byTime = (a: Row, b: Row): number =>
  decisionOf(b).status.lastTimestamp.localeCompare(decisionOf(a).status.lastTimestamp);

/** Returns the records that a selector matches, newest first. */
export function useActivity(kind: Kind, fieldSelector: string): LiveTable {
  const [mayOrder, setMayOrder] = useState(true);
  const selectors = { fieldSelector, includeObject: 'Object' };
  const table = useTable(kind.path, selectors, mayOrder ? activityOrder : undefined);
  useEffect(() => {
    if (table.failure?.code === 400) setMayOrder(false); // who sees some records orders them here
  }, [table.failure]);
  return table.rows ? { ...table, rows: table.rows.toSorted(byTime) } : table;
}
