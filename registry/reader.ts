/** A value that is there, or will be: `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** Reads objects of one kind without authorization, by names as `namespacedName` returns them. */
export interface Reader<O> {
  /** Returns the latest version, or undefined. */
  get(name: string): Promise<O | undefined>;
  /** Returns the object from the watch cache if that is fresh, else the latest version. */
  cached(name: string): O | undefined | Promise<O | undefined>;
  /** Lists all objects, or those of one owner, or of one namespace. */
  list(part?: string): Promise<O[]>;
  /** Returns the object that has a unique value. */
  byUnique(field: string, value: string): Promise<O | undefined>;
}
