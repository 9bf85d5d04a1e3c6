import { readAll, type ReadObjects } from '../../base/api/collection.js';

/** The pages that are read at most: there may be many objects, and they are listed by name. */
const maxPages = 4;

/** Reads the first 2,000 objects of a collection. */
export const readFirst = <T>(
  path: string,
  selectors?: Readonly<Record<string, string>>,
): Promise<ReadObjects<T>> => readAll<T>(path, selectors, maxPages);
