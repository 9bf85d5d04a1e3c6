import { ApiStatusError, CommandError } from '../../terminal/errors.js';
import type { FlagValues } from '../../terminal/flags.js';
import type { ApiClient, ApiObject } from './api-client.js';
import { type Resource, resourcePath } from './discovery.js';

/** A column of the server's Table (meta.k8s.io/v1). */
export interface TableColumn {
  readonly name: string;
  readonly priority: number;
}

/** An object, whole or as the row of a Table. */
export interface ListItem {
  readonly object: ApiObject;
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
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: ApiObject }[];
}

/** The Accept header for each form of a list. */
export const acceptHeaders = {
  rows: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  objects: 'application/json',
  names: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
};

export type ListForm = keyof typeof acceptHeaders;

/** Returns the objects of a response: a List, a Table or one object. */
export function itemsOf(response: ApiObject): {
  items: readonly ListItem[];
  columns: readonly TableColumn[];
} {
  if (response.kind === 'Table') {
    const { rows, columnDefinitions } = response as unknown as Table;
    return { items: rows, columns: columnDefinitions };
  }
  return {
    items: (Array.isArray(response.items) ? (response.items as ApiObject[]) : [response]).map(
      (object) => ({
        object,
      }),
    ),
    columns: [],
  };
}

/** Reads one object. */
export async function readOne(
  service: ApiClient,
  resource: Resource,
  name: string,
  form: ListForm,
): Promise<ListResult> {
  const response = await service.request('GET', resourcePath(resource, name), {
    accept: acceptHeaders[form === 'names' ? 'objects' : form],
  });
  return { ...itemsOf(response), version: response.metadata.resourceVersion! };
}

/**
 * Reads a collection, or what the flags select of it, page by page. If a page has expired (410),
 * reads the list again without pages.
 */
export async function readAll(
  service: ApiClient,
  resource: Resource,
  form: ListForm,
  flags: FlagValues,
): Promise<ListResult> {
  const pageSize = numberFlag(flags, 'chunk-size') ?? 500;
  try {
    return await readPages(service, resource, form, flags, pageSize);
  } catch (error) {
    if (pageSize === 0 || !(error instanceof ApiStatusError) || error.status !== 410) throw error;
    return readPages(service, resource, form, flags, 0);
  }
}

async function readPages(
  service: ApiClient,
  resource: Resource,
  form: ListForm,
  flags: FlagValues,
  pageSize: number,
): Promise<ListResult> {
  const max = numberFlag(flags, 'limit') ?? Infinity;
  const query = selectorQuery(flags);
  const items: ListItem[] = [];
  let columns: readonly TableColumn[] = [];
  for (;;) {
    if (pageSize > 0) query.set('limit', String(Math.min(pageSize, max - items.length)));
    const response = await service.request('GET', `${resourcePath(resource)}?${query}`, {
      accept: acceptHeaders[form],
    });
    const page = itemsOf(response);
    items.push(...page.items.slice(0, max - items.length));
    if (page.columns.length > 0) columns = page.columns;
    const { continue: token, resourceVersion: version = '' } = response.metadata;
    if (!token || items.length >= max) return { items, columns, version };
    query.set('continue', token);
  }
}

/** Returns the selectors of the flags as query parameters. */
export function selectorQuery(flags: FlagValues): URLSearchParams {
  const query = new URLSearchParams();
  if (flags.selector !== undefined) query.set('labelSelector', flags.selector);
  if (flags['field-selector'] !== undefined) query.set('fieldSelector', flags['field-selector']);
  return query;
}

function numberFlag(flags: FlagValues, name: 'limit' | 'chunk-size'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || (name === 'limit' && text === '0')) {
    throw new CommandError(`--${name} takes a number`, 2);
  }
  return Number(text);
}
