import { pathOf, type Resource } from './discovery.js';
import { Failure, Refusal } from '../terminal/errors.js';
import type { Values } from '../terminal/flags.js';
import type { Service, Thing } from './api-client.js';

/** A column of the server's Table (meta.k8s.io/v1). */
export interface Column {
  readonly name: string;
  readonly priority: number;
}

/** An object, whole or as the row of a Table that stands for it. */
export interface Item {
  readonly object: Thing;
  readonly cells?: readonly unknown[];
}

/** What a collection held at one version. */
export interface Reading {
  readonly items: readonly Item[];
  readonly columns: readonly Column[];
  readonly version: string;
}

interface Table {
  readonly kind: 'Table';
  readonly columnDefinitions: readonly Column[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Thing }[];
}

/** What Accept says of the form that objects are wanted in. */
export const accepts = {
  rows: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  whole: 'application/json',
  names: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
};

export type Form = keyof typeof accepts;

/** The objects in an answer, be it a List, a Table or one object. */
export function itemsOf(answer: Thing): { items: readonly Item[]; columns: readonly Column[] } {
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

/** One object. */
export async function readOne(
  service: Service,
  resource: Resource,
  name: string,
  form: Form,
): Promise<Reading> {
  const answer = await service.request('GET', pathOf(resource, name), {
    accept: accepts[form === 'names' ? 'whole' : form],
  });
  return { ...itemsOf(answer), version: answer.metadata.resourceVersion! };
}

/**
 * A collection, or what the flags choose of it, page by page; whole where a page comes too late to
 * be of the same version.
 */
export async function readAll(
  service: Service,
  resource: Resource,
  form: Form,
  flags: Values,
): Promise<Reading> {
  const page = numberOf(flags, 'chunk-size') ?? 500;
  try {
    return await readPages(service, resource, form, flags, page);
  } catch (error) {
    if (page === 0 || !(error instanceof Refusal) || error.status !== 410) throw error;
    return readPages(service, resource, form, flags, 0);
  }
}

async function readPages(
  service: Service,
  resource: Resource,
  form: Form,
  flags: Values,
  page: number,
): Promise<Reading> {
  const max = numberOf(flags, 'limit') ?? Infinity;
  const query = selection(flags);
  const items: Item[] = [];
  let columns: readonly Column[] = [];
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

/** The selectors among the flags, as the service takes them. */
export function selection(flags: Values): URLSearchParams {
  const query = new URLSearchParams();
  if (flags.selector !== undefined) query.set('labelSelector', flags.selector);
  if (flags['field-selector'] !== undefined) query.set('fieldSelector', flags['field-selector']);
  return query;
}

function numberOf(flags: Values, name: 'limit' | 'chunk-size'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || (name === 'limit' && text === '0'))
    throw new Failure(`--${name} takes a number`, 2);
  return Number(text);
}
