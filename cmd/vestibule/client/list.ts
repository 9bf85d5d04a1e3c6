import { pathOf, type Resource } from './discovery.js';
import { CommandError, ApiRefusalError } from '../terminal/errors.js';
import type { FlagValues } from '../terminal/flags.js';
import type { ApiClient, Thing } from './api-client.js';

/** A column of the server's Table (meta.k8s.io/v1). */
export interface TableColumn {
  readonly name: string;
  readonly priority: number;
}

/** An object, whole or as the row of a Table. */
export interface ListItem {
  readonly object: Thing;
  readonly cells?: readonly unknown[];
}

/** The items of a collection at one resourceVersion. */
export interface ListResult {
  readonly items: readonly ListItem[];
  readonly columns: readonly TableColumn[];
  readonly version: string;
}

interface Table {
  readonly kind: 'Table';
  readonly columnDefinitions: readonly TableColumn[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Thing }[];
}

/** The Accept header for each form of a list. */
export const accepts = {
  rows: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  whole: 'application/json',
  names: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
};

export type Form = keyof typeof accepts;

/** Returns the objects of a response: a List, a Table or one object. */
export function itemsOf(answer: Thing): {
  items: readonly ListItem[];
  columns: readonly TableColumn[];
} {
  if (answer.kind === 'Table') {
    const { rows, columnDefinitions } = answer as unknown as Table;
    return { items: rows, columns: columnDefinitions };
  }
  return {
    items: (Array.isArray(answer.items) ? (answer.items as Thing[]) : [answer]).map((object) => ({
      object,
    })),
    columns: [],
  };
}

/** Reads one object. */
export async function readOne(
  service: ApiClient,
  resource: Resource,
  name: string,
  form: Form,
): Promise<ListResult> {
  const answer = await service.request('GET', pathOf(resource, name), {
    accept: accepts[form === 'names' ? 'whole' : form],
  });
  return { ...itemsOf(answer), version: answer.metadata.resourceVersion! };
}

/**
 * Reads a collection, or what the flags select of it, page by page. If a page has expired (410),
 * reads the list again without pages.
 */
export async function readAll(
  service: ApiClient,
  resource: Resource,
  form: Form,
  flags: FlagValues,
): Promise<ListResult> {
  const page = numberOf(flags, 'chunk-size') ?? 500;
  try {
    return await readPages(service, resource, form, flags, page);
  } catch (error) {
    if (page === 0 || !(error instanceof ApiRefusalError) || error.status !== 410) throw error;
    return readPages(service, resource, form, flags, 0);
  }
}

async function readPages(
  service: ApiClient,
  resource: Resource,
  form: Form,
  flags: FlagValues,
  page: number,
): Promise<ListResult> {
  const max = numberOf(flags, 'limit') ?? Infinity;
  const query = selection(flags);
  const items: ListItem[] = [];
  let columns: readonly TableColumn[] = [];
  for (;;) {
    if (page > 0) query.set('limit', String(Math.min(page, max - items.length)));
    const answer = await service.request('GET', `${pathOf(resource)}?${query}`, {
      accept: accepts[form],
    });
    const read = itemsOf(answer);
    items.push(...read.items.slice(0, max - items.length));
    if (read.columns.length > 0) columns = read.columns;
    const { continue: next, resourceVersion: version = '' } = answer.metadata;
    if (!next || items.length >= max) return { items, columns, version };
    query.set('continue', next);
  }
}

/** Returns the selectors of the flags as query parameters. */
export function selection(flags: FlagValues): URLSearchParams {
  const query = new URLSearchParams();
  if (flags.selector !== undefined) query.set('labelSelector', flags.selector);
  if (flags['field-selector'] !== undefined) query.set('fieldSelector', flags['field-selector']);
  return query;
}

function numberOf(flags: FlagValues, name: 'limit' | 'chunk-size'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || (name === 'limit' && text === '0'))
    throw new CommandError(`--${name} takes a number`, 2);
  return Number(text);
}
