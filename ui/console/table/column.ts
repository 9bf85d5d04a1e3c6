import type { ComponentChildren } from 'preact';
import type { Row } from '../base/table.js';

/** A column of a table of objects. */
export interface DataColumn {
  readonly id: string;
  readonly title: string;
  readonly description?: string | undefined;
  /** What the cell says, for the order of rows and for export. */
  readonly text: (row: Row) => string;
  /** What the cell shows, unless it is the text. */
  readonly cell?: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** The field by which the server can order rows, in one direction. */
  readonly orderBy?: string | undefined;
  /** That order begins with the newest. */
  readonly isNewestFirst?: boolean;
  /** Not shown unless it is chosen. */
  readonly isExtra?: boolean;
  /** Left out where there is little room. */
  readonly isSecondary?: boolean;
}
