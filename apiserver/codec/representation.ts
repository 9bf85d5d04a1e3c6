import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AnyKind, Call } from '../../registry/kind.js';
import { notAcceptable } from '../../registry/status/status.js';
import type { KindView } from '../../registry/versions/kind-view.js';
import { acceptsJSON, acceptsYAML, type MediaRange, parseAccept } from './accept.js';
import { objectForCaller, wireBytes } from './object-encoding.js';
import type { Query } from './query.js';
import { cellsOf, columnsOf } from './table.js';

type ViewContext = Pick<Call, 'caller' | 'now'>;

/**
 * The representation of objects: whole, as table rows, or only metadata
 * (docs/design/kubernetes.md#representations).
 */
export interface Representation {
  readonly metadataOnly: boolean;
  /** Whether objects are sent whole. */
  readonly isWhole?: boolean;
  /** Whether `includeObject` has an unknown value, which is refused after authorization. */
  readonly isUnknown?: boolean;
  /** Returns a key that is equal for views at `now` that can share an encoding. */
  cacheKey(now: number): string;
  /** Returns a list up to its first item; `]}` ends it. */
  listStart(kind: AnyKind, metadata: object): string;
  /** Returns one object of a list. */
  listItem(stored: EncodedObject, call: ViewContext, revision?: number): Buffer;
  /** Returns a single object; `first` is true for the first one of a stream. */
  singleObject(stored: EncodedObject, call: ViewContext, first: boolean, revision?: number): Buffer;
  /** Returns the object of a bookmark event. */
  bookmark(kind: AnyKind, metadata: object): object;
}

const wholeViews = new WeakMap<KindView, Representation>();

/** Returns the whole object, as a version has it. */
export function wholeIn(view: KindView): Representation {
  const known = wholeViews.get(view);
  if (known) return known;
  const { apiVersion, kind } = view;
  const whole: Representation = {
    metadataOnly: false,
    isWhole: true,
    cacheKey: () => view.version,
    listStart: (_kind, metadata) =>
      `{"kind":"${kind.kind}List","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`,
    listItem: (stored, call, revision) => wireBytes(view, stored, call, revision),
    singleObject: (stored, call, _first, revision) => wireBytes(view, stored, call, revision),
    bookmark: (_kind, metadata) => ({ kind: kind.kind, apiVersion, metadata }),
  };
  wholeViews.set(view, whole);
  return whole;
}

/**
 * Returns an object's metadata for this caller, without the owners of its fields: they contain the
 * items of sets, which a caller who may read only metadata must not see.
 */
function partialMetadata(
  version: string,
  stored: EncodedObject,
  call: ViewContext,
  revision?: number,
): object {
  const { managedFields: _, ...metadata } = objectForCaller(stored, call).metadata;
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: version,
    metadata:
      revision === undefined ? metadata : { ...metadata, resourceVersion: String(revision) },
  };
}

function metadataView(version: string): Representation {
  const item = (stored: EncodedObject, call: ViewContext, revision?: number): Buffer =>
    Buffer.from(JSON.stringify(partialMetadata(version, stored, call, revision)));
  return {
    metadataOnly: true,
    listItem: item,
    cacheKey: () => `metadata ${version}`,
    listStart: (_kind, metadata) =>
      `{"kind":"PartialObjectMetadataList","apiVersion":"${version}","metadata":${JSON.stringify(metadata)},"items":[`,
    singleObject: (stored, call, _first, revision) => item(stored, call, revision),
    bookmark: (_kind, metadata) => ({
      kind: 'PartialObjectMetadata',
      apiVersion: version,
      metadata,
    }),
  };
}

const included: readonly string[] = ['Metadata', 'Object', 'None'];

/** Returns rows of a table, each with what `include` says of the object, as a version has it. */
function tableView(version: string, include: string, view: KindView): Representation {
  const opening = (metadata: object, columns: object[]): string =>
    `{"kind":"Table","apiVersion":"${version}","metadata":${JSON.stringify(metadata)},"columnDefinitions":${JSON.stringify(columns)},"rows":[`;
  const objectOfRow = (stored: EncodedObject, call: ViewContext, revision?: number): string => {
    if (include === 'Object') return wireBytes(view, stored, call, revision).toString();
    return include === 'None'
      ? 'null'
      : JSON.stringify(partialMetadata(version, stored, call, revision));
  };
  const row = (stored: EncodedObject, call: ViewContext, revision?: number): string =>
    `{"cells":${JSON.stringify(cellsOf(stored.kind, objectForCaller(stored, call), call.now))},"object":${objectOfRow(stored, call, revision)}}`;
  return {
    metadataOnly: false,
    cacheKey: (now) => `table ${version} ${include} ${view.version} ${Math.floor(now / 1000)}`,
    listStart: (kind, metadata) => opening(metadata, columnsOf(kind)),
    listItem: (stored, call, revision) => Buffer.from(row(stored, call, revision)),
    singleObject: (stored, call, first, revision = stored.revision) =>
      Buffer.from(
        `${opening({ resourceVersion: String(revision) }, first ? columnsOf(stored.kind) : [])}${row(stored, call, revision)}]}`,
      ),
    bookmark: (_kind, metadata) => ({
      kind: 'Table',
      apiVersion: version,
      metadata,
      columnDefinitions: [],
      rows: [],
    }),
  };
}

const versions = ['v1', 'v1beta1'];
const metadataViews: ReadonlyMap<string, Representation> = new Map(
  versions.map((version) => [version, metadataView(`meta.k8s.io/${version}`)]),
);

/** The shape of a response: one object, a list, or a stream. Other responses are always whole. */
type Shape = 'get' | 'list' | 'watch';

/**
 * Returns the first supported representation of an Accept header, of objects as a version has them;
 * undefined for what is no object of a kind. Throws 406 if there is none.
 */
export function negotiateRepresentation(
  accept: string | undefined,
  shape: string,
  query: Query,
  view: KindView,
): Representation;
export function negotiateRepresentation(
  accept: string | undefined,
  shape: string,
  query: Query,
  view: undefined,
): undefined;
export function negotiateRepresentation(
  accept: string | undefined,
  shape: string,
  query: Query,
  view: KindView | undefined,
): Representation | undefined {
  if (accept === undefined || accept === 'application/json') return view && wholeIn(view);
  for (const clause of parseAccept(accept)) {
    if (acceptsYAML(clause) && shape !== 'watch') return view && wholeIn(view);
    if (!acceptsJSON(clause)) continue;
    if (clause.as === undefined) return view && wholeIn(view);
    const found =
      view && (shape === 'get' || shape === 'list' || shape === 'watch')
        ? findRepresentation(clause, shape, query, view)
        : undefined;
    if (found) return found;
  }
  throw notAcceptable(['application/json', 'application/json;stream=watch']);
}

function findRepresentation(
  { as, group, version = '' }: MediaRange,
  shape: Shape,
  query: Query,
  view: KindView,
): Representation | undefined {
  if (group !== 'meta.k8s.io') return undefined;
  if (as === (shape === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata')) {
    return metadataViews.get(version);
  }
  if (as !== 'Table' || !versions.includes(version)) return undefined;
  const include = query.get('includeObject') ?? 'Metadata';
  const isKnown = included.includes(include);
  const table = tableView(`meta.k8s.io/${version}`, isKnown ? include : 'Metadata', view);
  return isKnown ? table : { ...table, isUnknown: true };
}
