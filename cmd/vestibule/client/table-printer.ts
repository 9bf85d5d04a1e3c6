import { typeName, type Resource } from './discovery.js';
import type { FlagValues } from '../terminal/flags.js';
import type { TableColumn, ListItem } from './list.js';
import { plain } from '../terminal/output.js';
import { Columns } from './columns.js';

/** The options of a printed table. */
interface Shown {
  readonly wide: boolean;
  readonly flags: FlagValues;
  readonly withType?: boolean;
  readonly withEvents?: boolean;
}

/** Prints the server's rows of one type like kubectl. */
export class Rows {
  readonly #columns = new Columns();
  readonly #resource: Resource;
  readonly #shown: Shown;
  #definitions: readonly TableColumn[] = [];
  #headed = false;

  constructor(resource: Resource, shown: Shown) {
    this.#resource = resource;
    this.#shown = shown;
  }

  /** Prints more rows, the first time with headings. `event` is the watch event, if it is shown. */
  print(items: readonly ListItem[], columns: readonly TableColumn[], event = ''): string {
    if (columns.length > 0) this.#definitions = columns;
    if (items.length === 0) return '';
    const rows = items.map((item) => this.#row(item, event));
    const headings = this.#headed || this.#shown.flags['no-headers'] ? [] : [this.#headings()];
    this.#headed = true;
    return this.#columns.print([...headings, ...rows]);
  }

  #headings(): string[] {
    const names = this.#chosen(this.#definitions.map(({ name }) => name.toUpperCase()));
    return [
      ...(this.#shown.withEvents ? ['EVENT'] : []),
      ...names,
      ...(this.#shown.flags['show-labels'] ? ['LABELS'] : []),
    ].map(oneLine);
  }

  #row({ cells = [], object }: ListItem, event: string): string[] {
    const texts = cells.map(
      (cell, at) =>
        `${at === 0 && this.#shown.withType ? `${typeName(this.#resource)}/` : ''}${cell === null ? '' : String(cell)}`,
    );
    const labels =
      Object.entries(object.metadata.labels ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(',') || '<none>';
    return [
      ...(this.#shown.withEvents ? [event] : []),
      ...this.#chosen(texts),
      ...(this.#shown.flags['show-labels'] ? [labels] : []),
    ].map(oneLine);
  }

  #chosen(cells: readonly string[]): string[] {
    return cells.filter(
      (_, at) => this.#shown.wide || (this.#definitions[at]?.priority ?? 0) === 0,
    );
  }
}

/** Returns the first line of a cell, with `...` if more follow. */
function oneLine(text: string): string {
  const [line = ''] = text.split(/[\n\r\f]/, 1);
  return plain((line === text ? text : `${line}...`).replaceAll('\t', ' '));
}
