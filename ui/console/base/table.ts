import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ObjectMeta, WatchEvent } from '../../api.js';
import { ApiError, call } from '../../base/api/api.js';
import { listAndWatch, type WatchedList } from '../../base/api/list-watch.js';

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

/** What a watch of a table delivers; a bookmark may be no table. */
type Changed = Table | { readonly kind: string; readonly metadata: ObjectMeta };

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
const byName = (row: Row, other: Row): number => (nameOf(row) < nameOf(other) ? -1 : 1);

/**
 * The pages of a list in the order of names, or of a field, and the changes of a watch over them. All
 * pages are of one revision, so a change to a row that is not loaded yet is kept until its page is.
 */
class TableReader implements WatchedList<Changed> {
  readonly accept = asTable;
  readonly address: WatchedList<Changed>['address'];
  #columns: readonly Column[] = [];
  #pages: Row[] = [];
  #changes = new Map<string, Row | undefined>();
  #continue: string | undefined;
  #remaining: number | undefined;
  readonly #orderBy: string | undefined;
  version: string | undefined;

  constructor(path: string, selectors: Readonly<Record<string, string>>, orderBy?: string) {
    this.#orderBy = orderBy;
    this.address = (more) => `${path}?${new URLSearchParams({ ...selectors, ...more })}`;
  }

  /** Reads the first page again, with as many rows as were loaded. */
  async list(): Promise<void> {
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
      await this.list();
    }
  }

  apply({ type, object }: WatchEvent<Changed>): void {
    for (const row of 'rows' in object ? object.rows : []) {
      this.version = row.object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') this.#changes.set(nameOf(row), type === 'DELETED' ? undefined : row);
    }
    const { resourceVersion } = object.metadata;
    if (type === 'BOOKMARK' && resourceVersion) this.version = resourceVersion;
  }

  get state(): TableState {
    const rows = new Map(this.#pages.map((row) => [nameOf(row), row]));
    const last = this.#pages.at(-1);
    for (const [name, row] of this.#changes) {
      const isLoaded =
        !this.#continue || rows.has(name) || (!this.#orderBy && last && name <= nameOf(last));
      if (!row) {
        rows.delete(name);
      } else if (isLoaded) {
        rows.set(name, row);
      }
    }
    return {
      columns: this.#columns,
      rows: this.#orderBy ? [...rows.values()] : [...rows.values()].sort(byName),
      remaining: this.#remaining,
      isComplete: !this.#continue,
    };
  }

  #read(more: Record<string, string>): Promise<Table> {
    const order: Record<string, string> = this.#orderBy ? { orderBy: this.#orderBy } : {};
    return call<Table>('GET', this.address({ ...order, ...more }), undefined, asTable);
  }

  #add({ rows, metadata }: Table): void {
    this.#pages = [...this.#pages, ...rows];
    this.#continue = metadata.continue;
    this.#remaining = metadata.remainingItemCount;
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

/** A table of the API, kept up to date by a watch. */
export interface LiveTable extends Partial<TableState> {
  readonly failure: ApiError | undefined;
  readonly busy: boolean;
  /** Loads the next page. */
  more: () => Promise<void>;
  retry: () => void;
}

/** Returns the table of a collection that selectors match, in the order of names unless of a field. */
export function useTable(
  path: string,
  selectors: Readonly<Record<string, string>>,
  orderBy?: string,
): LiveTable {
  const [turn, setTurn] = useState(0);
  const reader = useMemo(
    () => new TableReader(path, selectors, orderBy),
    [`${path}?${new URLSearchParams(selectors)}`, orderBy, turn],
  );
  const [shown, set] = useState<Partial<TableState>>({});
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const visible = useIsVisible();
  const show = (state: Partial<TableState>, failed?: ApiError): void => {
    set(state);
    setFailure(failed);
  };
  useEffect(() => show({}), [reader]);
  useEffect(() => {
    if (!visible) return undefined;
    const stop = new AbortController();
    const change = (failed?: ApiError): void => show(failed ? {} : reader.state, failed);
    void listAndWatch(reader, change, stop.signal);
    return () => stop.abort();
  }, [reader, visible]);
  const more = async (): Promise<void> => {
    setBusy(true);
    try {
      await reader.more();
      show(reader.state);
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      setFailure(thrown);
    } finally {
      setBusy(false);
    }
  };
  return { ...shown, failure, busy, more, retry: () => setTurn(turn + 1) };
}
