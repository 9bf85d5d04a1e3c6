import { useEffect, useState } from 'preact/hooks';
import type { ObjectMeta, Status } from '../../api.js';
import { ApiError, call, send } from '../../base/api/api.js';
import { delay, readLines, untilReturn } from '../../base/api/watch.js';

/** A column as the server defines it. */
export interface Column {
  readonly name: string;
  readonly description: string;
  readonly priority: number;
}

/** A row: the cells of an object, and its metadata. */
export interface Row {
  readonly cells: readonly unknown[];
  readonly object: { readonly metadata: ObjectMeta };
}

interface Table {
  readonly kind: 'Table';
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly columnDefinitions: readonly Column[];
  readonly rows: readonly Row[];
}

interface TableEvent {
  readonly type: string;
  readonly object: Table | Status | { readonly kind: string; readonly metadata: ObjectMeta };
}

/** The rows of the first page, and of each further one. */
const pageSize = 50;
const maxPageSize = 500;

/** The representation that kubectl requests. */
const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** The rows that are loaded, and what changed since they were. */
export interface TableState {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** How many rows of the server are not loaded; undefined if it does not say. */
  readonly remaining: number | undefined;
  readonly isComplete: boolean;
}

const nameOf = ({ object }: Row): string => object.metadata.name;
const byName = (one: Row, other: Row): number => (nameOf(one) < nameOf(other) ? -1 : 1);

/**
 * The pages of a list in the order of names, and the changes of a watch over them. All pages are of
 * one revision, so a change to a row that is not loaded yet is kept until its page is.
 */
export class TableReader {
  readonly #address: (more: Record<string, string>) => string;
  #columns: readonly Column[] = [];
  #pages: Row[] = [];
  #changes = new Map<string, Row | undefined>();
  #continue: string | undefined;
  #remaining: number | undefined;
  version = '';

  constructor(path: string, selectors: Readonly<Record<string, string>>) {
    this.#address = (more) => `${path}?${new URLSearchParams({ ...selectors, ...more })}`;
  }

  /** Reads the first page again, with as many rows as were loaded. */
  async restart(): Promise<void> {
    const limit = Math.min(maxPageSize, Math.max(pageSize, this.#pages.length));
    const table = await this.#read({ limit: String(limit) });
    this.#pages = [];
    this.#changes.clear();
    this.#columns = table.columnDefinitions;
    this.version = table.metadata.resourceVersion;
    this.#add(table);
  }

  /** Reads the next page. Starts again if the server has forgotten the revision of this one. */
  async more(): Promise<void> {
    try {
      this.#add(await this.#read({ limit: String(pageSize), continue: this.#continue! }));
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.code !== 410) throw thrown;
      await this.restart();
    }
  }

  /**
   * Applies the events of one watch. Returns whether it may be continued at `version`; otherwise
   * the list must be read again.
   */
  async watch(changed: () => void, signal: AbortSignal): Promise<boolean> {
    const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: this.version };
    const response = await send('GET', this.#address(query), undefined, signal, asTable);
    if (response.status === 410) return false;
    if (!response.ok || !response.body) throw new ApiError(response.status);
    for await (const line of readLines(response.body)) {
      if (!this.#apply(JSON.parse(line) as TableEvent)) return false;
      changed();
    }
    return true;
  }

  get state(): TableState {
    const rows = new Map(this.#pages.map((row) => [nameOf(row), row]));
    const last = this.#pages.at(-1);
    for (const [name, row] of this.#changes) {
      const isLoaded = !this.#continue || (last && name <= nameOf(last));
      if (!row) rows.delete(name);
      else if (isLoaded) rows.set(name, row);
    }
    return {
      columns: this.#columns,
      rows: [...rows.values()].sort(byName),
      remaining: this.#remaining,
      isComplete: !this.#continue,
    };
  }

  #read(more: Record<string, string>): Promise<Table> {
    return call<Table>('GET', this.#address(more), undefined, asTable);
  }

  #add({ rows, metadata }: Table): void {
    this.#pages = [...this.#pages, ...rows];
    this.#continue = metadata.continue;
    this.#remaining = metadata.remainingItemCount;
  }

  #apply({ type, object }: TableEvent): boolean {
    if (type === 'ERROR') return false;
    const rows = object.kind === 'Table' ? (object as Table).rows : [];
    for (const row of rows) {
      this.version = row.object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') this.#changes.set(nameOf(row), type === 'DELETED' ? undefined : row);
    }
    const { resourceVersion } = (object as Table).metadata;
    if (type === 'BOOKMARK' && resourceVersion) this.version = resourceVersion;
    return true;
  }
}

/** Returns whether this page is in view. Others hold no watch: a browser has six connections. */
function useIsVisible(): boolean {
  const [visible, set] = useState(!document.hidden);
  useEffect(() => {
    const update = (): void => set(!document.hidden);
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return visible;
}

/** Follows a table until the signal aborts; after a failure, when the person returns. */
async function follow(
  reader: TableReader,
  show: (failure?: ApiError) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (!reader.version) await reader.restart();
      if (signal.aborted) return;
      show();
      const isContinued = await reader.watch(show, signal);
      if (!isContinued) reader.version = '';
      await delay(1_000);
    } catch (thrown) {
      if (signal.aborted) return;
      if (thrown instanceof ApiError && !reader.version) show(thrown);
      await untilReturn(signal);
      reader.version = '';
    }
  }
}

/** A table of the API, kept up to date by a watch. */
export interface LiveTable extends Partial<TableState> {
  readonly failure: ApiError | undefined;
  readonly busy: boolean;
  /** Loads the next page. */
  more: () => Promise<void>;
  retry: () => void;
}

interface Shown {
  readonly state?: TableState | undefined;
  readonly failure?: ApiError | undefined;
}

/** Returns the table of a collection that selectors match. */
export function useTable(path: string, selectors: Readonly<Record<string, string>>): LiveTable {
  const key = `${path}?${new URLSearchParams(selectors)}`;
  const [reader, setReader] = useState({ key: '', reader: new TableReader(path, selectors) });
  const [{ state, failure }, set] = useState<Shown>({});
  const [busy, setBusy] = useState(false);
  const visible = useIsVisible();
  useEffect(() => {
    set({});
    setReader({ key, reader: new TableReader(path, selectors) });
  }, [key]);
  useEffect(() => {
    if (!visible || reader.key !== key) return undefined;
    const stop = new AbortController();
    const show = (failed?: ApiError): void => {
      if (!stop.signal.aborted) set(failed ? { failure: failed } : { state: reader.reader.state });
    };
    void follow(reader.reader, show, stop.signal);
    return () => stop.abort();
  }, [reader, visible]);
  const more = async (): Promise<void> => {
    setBusy(true);
    try {
      await reader.reader.more();
      set({ state: reader.reader.state });
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      set({ state, failure: thrown });
    } finally {
      setBusy(false);
    }
  };
  const retry = (): void => {
    set({});
    setReader({ key, reader: new TableReader(path, selectors) });
  };
  return { ...state, failure, busy, more, retry };
}
