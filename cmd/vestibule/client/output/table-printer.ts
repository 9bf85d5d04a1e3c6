import type { FlagValues } from '../../terminal/flags.js';
import { stripControls } from '../../terminal/output.js';
import { type Resource, typeName } from '../connection/discovery.js';
import type { ListItem, TableColumn } from '../connection/list.js';
import { Columns } from './columns.js';

/** The options of a printed table. */
interface TableOptions {
  readonly wide: boolean;
  readonly flags: FlagValues;
  readonly withType?: boolean;
  readonly withEvents?: boolean;
}

/** Prints the server's rows of one type like kubectl. */
export class TablePrinter {
  readonly #columns = new Columns();
  readonly #resource: Resource;
  readonly #options: TableOptions;
  #definitions: readonly TableColumn[] = [];
  #hasHeadings = false;

  constructor(resource: Resource, options: TableOptions) {
    this.#resource = resource;
    this.#options = options;
  }

  /** Prints more rows, the first time with headings. `event` is the watch event, if it is shown. */
  print(items: readonly ListItem[], columns: readonly TableColumn[], event = ''): string {
    if (columns.length > 0) this.#definitions = columns;
    if (items.length === 0) return '';
    const rows = items.map((item) => this.#row(item, event));
    const headings =
      this.#hasHeadings || this.#options.flags['no-headers'] ? [] : [this.#headings()];
    this.#hasHeadings = true;
    return this.#columns.print([...headings, ...rows]);
  }

  #headings(): string[] {
    const names = this.#visible(this.#definitions.map(({ name }) => name.toUpperCase()));
    return [
      ...(this.#options.withEvents ? ['EVENT'] : []),
      ...names,
      ...(this.#options.flags['show-labels'] ? ['LABELS'] : []),
    ].map(oneLine);
  }

  #row({ cells = [], object }: ListItem, event: string): string[] {
    const texts = cells.map(
      (cell, index) =>
        `${index === 0 && this.#options.withType ? `${typeName(this.#resource)}/` : ''}${cell === null ? '' : String(cell)}`,
    );
    const labels =
      Object.entries(object.metadata.labels ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(',') || '<none>';
    return [
      ...(this.#options.withEvents ? [event] : []),
      ...this.#visible(texts),
      ...(this.#options.flags['show-labels'] ? [labels] : []),
    ].map(oneLine);
  }

  #visible(cells: readonly string[]): string[] {
    return cells.filter(
      (_, index) => this.#options.wide || (this.#definitions[index]?.priority ?? 0) === 0,
    );
  }
}

/** Returns the first line of a cell, with `...` if more follow. */
function oneLine(text: string): string {
  const [line = ''] = text.split(/[\n\r\f]/, 1);
  return stripControls((line === text ? text : `${line}...`).replaceAll('\t', ' '));
}
