import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { dayMs } from '../../registry/schema/units.js';
import { notAcceptable } from '../../registry/status/status.js';
import type { Registry } from '../../registry/store/registry.js';
import { inVersion } from '../../registry/store/registry-view.js';
import { acceptsJSON, acceptsYAML, type MediaRange, parseAccept } from '../codec/accept.js';
import { type EncodedContent, encodeContent } from '../codec/content-encoding.js';
import type { ApiResponse, PermittedRequest } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import type { ApiPaths } from '../request/api-paths.js';
import type { NonResourceRequestInfo } from '../request/request-info.js';
import type { ApiDescription, ServedDocument } from './api-description.js';
import {
  apiVersions,
  coreResources,
  groupDiscovery,
  groupDocument,
  groupList,
  resourceList,
  versionInfo,
} from './discovery.js';
import { openapi } from './openapi.js';
import { kubernetesOpenapi } from './openapi-kubectl.js';
import { openapiV2 } from './openapi-v2.js';

/** Documents of fewer bytes are not compressed. */
const minCompressed = 2048;

/** An encoded document, compressed if it is large, and its digest, for revalidation. */
interface EncodedDocument extends EncodedContent {
  readonly digest: string;
}

/** One format of a document, and the media ranges that it satisfies. */
interface DocumentFormat {
  readonly type: string;
  accepts(clause: MediaRange): boolean;
  encoded(): EncodedDocument;
}

const swagger = /^application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf$/;

function documentFormat(
  type: string,
  accepts: (clause: MediaRange) => boolean,
  make: () => unknown,
): DocumentFormat {
  let cached: EncodedDocument | undefined;
  const encode = (): EncodedDocument => {
    const value = make();
    const body = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    return {
      plain: body,
      gzip: body.length < minCompressed ? undefined : gzipSync(body, { level: 9 }),
      digest: createHash('sha256')
        .update(type)
        .update(body)
        .digest('hex')
        .slice(0, 32)
        .toUpperCase(),
    };
  };
  return {
    type,
    accepts,
    encoded: () => {
      cached ??= encode();
      return cached;
    },
  };
}

const jsonFormat = (make: () => unknown): DocumentFormat =>
  documentFormat(
    'application/json',
    (clause) => acceptsJSON(clause) && clause.as === undefined,
    make,
  );

/** Adds YAML to the formats of a document that has JSON. */
function withYAML(formats: readonly DocumentFormat[]): readonly DocumentFormat[] {
  const json = formats.find(({ type }) => type === 'application/json');
  return json ? [...formats, { ...json, type: 'application/yaml', accepts: acceptsYAML }] : formats;
}

/** The formats of a further document; its first one also satisfies a browser. */
const formatsOf = ({ formats }: ServedDocument): DocumentFormat[] =>
  Object.entries(formats).map(([type, make], i) =>
    documentFormat(
      type,
      (clause) =>
        clause.as === undefined && satisfies(type, clause.type, i === 0 ? ['text/html'] : []),
      make,
    ),
  );

/** Reports whether a media type is in a media range (RFC 9110 §12.5.1), or in one of `others`. */
const satisfies = (type: string, range: string, others: readonly string[]): boolean => {
  const [essence = ''] = type.split(';');
  return ['*/*', `${essence.split('/')[0]}/*`, essence, ...others].includes(range);
};

/** Both versions of aggregated discovery; clients read the Content-Type. */
const aggregated = (path: '/api' | '/apis', registry: Registry): DocumentFormat[] =>
  ['v2', 'v2beta1'].map((one) =>
    documentFormat(
      `application/json;g=apidiscovery.k8s.io;v=${one};as=APIGroupDiscoveryList`,
      (clause) =>
        acceptsJSON(clause) &&
        clause.as === 'APIGroupDiscoveryList' &&
        clause.group === 'apidiscovery.k8s.io' &&
        clause.version === one,
      () => groupDiscovery(path, registry, one),
    ),
  );

/** The OpenAPI 2.0 document. As protobuf, which older releases of kubectl ask for, it is empty. */
const swaggerFormats = (make: () => unknown): DocumentFormat[] => [
  documentFormat(
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    ({ type }) => swagger.test(type),
    () => Buffer.alloc(0),
  ),
  jsonFormat(make),
];

/** What the documents are made from. */
interface Sources {
  readonly registry: Registry;
  readonly paths: ApiPaths;
  readonly release: string;
  readonly description: ApiDescription;
  readonly encoder: Encoder;
}

/**
 * The discovery and OpenAPI documents: encoded once, in the format that Accept prefers, revalidated
 * by ETag (docs/design/kubernetes.md#documents).
 */
export class Documents {
  readonly #encoder: Encoder;
  readonly #formats: ReadonlyMap<string, readonly DocumentFormat[]>;

  readonly #paths: ApiPaths;

  constructor({ registry, paths, release, description, encoder }: Sources, component: string) {
    this.#encoder = encoder;
    this.#paths = paths;
    const views = registry.groups.flatMap((group) =>
      group.versions.map(({ version }) => inVersion(registry, version, group)),
    );
    const served = views.map((view) => {
      const document = () => openapi(view, release, description);
      const forKubectl = () => kubernetesOpenapi(document(), view);
      return { ...view, view, document, forKubectl, kubernetes: jsonFormat(forKubectl) };
    });
    const [preferred] = served; // the first version of the first group
    const index = () => ({
      paths: Object.fromEntries(
        served.map(({ apiVersion, kubernetes }) => [
          `apis/${apiVersion}`,
          {
            serverRelativeURL: `/openapi/v3/apis/${apiVersion}?hash=${kubernetes.encoded().digest}`,
          },
        ]),
      ),
    });
    const formats: [string, DocumentFormat[]][] = [
      ['/api', [jsonFormat(() => apiVersions(registry)), ...aggregated('/api', registry)]],
      ['/api/v1', [jsonFormat(() => coreResources(registry))]],
      ['/api/openapi/v3', [jsonFormat(() => preferred?.document())]],
      ['/apis', [jsonFormat(() => groupList(registry)), ...aggregated('/apis', registry)]],
      ...registry.groups.map((group): [string, DocumentFormat[]] => [
        `/apis/${group.name}`,
        [jsonFormat(() => groupDocument(group))],
      ]),
      ...served.flatMap((view): [string, DocumentFormat[]][] => {
        const resources = [jsonFormat(() => resourceList(view.view))];
        return [
          [view.root, resources],
          [`/apis/${view.apiVersion}`, resources],
          [`/openapi/v3/apis/${view.apiVersion}`, [view.kubernetes]],
        ];
      }),
      ['/openapi/v3', [jsonFormat(index)]],
      ['/openapi/v2', swaggerFormats(() => openapiV2(documentsOf(served)))],
      ['/version', [jsonFormat(() => versionInfo(component, release))]],
      ...(description.documents ?? []).flatMap((document): [string, DocumentFormat[]][] => {
        const forms = formatsOf(document);
        return paths.pathsOf(document.name).map((path) => [path, forms]);
      }),
    ];
    this.#formats = new Map(formats.map(([path, forms]) => [path, withYAML(forms)]));
    for (const path of paths.documents) {
      if (!this.#formats.has(path)) throw new Error(`${path} is no document`);
    }
  }

  /** Sends a document; 304 if the client has it, 406 if no format is acceptable. */
  send(req: PermittedRequest<NonResourceRequestInfo>, res: ApiResponse): void {
    const { path, query } = req.authorized.requestInfo;
    const { type, encoded } = negotiateFormat(this.#formats.get(path) ?? [], req.headers.accept);
    const document = encoded();
    const { digest } = document;
    const hash = this.#paths.kubernetesOpenapi.has(path) ? query.get('hash') : undefined;
    if (hash !== undefined && hash !== digest) {
      return this.#encoder.send(req, res, 301, Buffer.alloc(0), [
        'Location',
        `${path}?hash=${digest}`,
        'Cache-Control',
        'no-store',
      ]);
    }
    const etag = `"${digest}"`;
    const headers = [
      'Vary',
      'Accept, Accept-Encoding',
      'ETag',
      etag,
      ...(hash === undefined
        ? ['Cache-Control', 'public, max-age=0']
        : [
            'Cache-Control',
            'public, immutable',
            'Expires',
            new Date(Date.now() + 365 * dayMs).toUTCString(),
          ]),
    ];
    if (etagMatches(req.headers['if-none-match'], etag)) {
      return this.#encoder.send(req, res, 304, Buffer.alloc(0), headers);
    }
    const { body } = encodeContent(document, req.headers['accept-encoding']);
    const coding = body === document.gzip ? ['Content-Encoding', 'gzip'] : [];
    this.#encoder.send(req, res, 200, body, [...headers, ...coding, 'Content-Type', type]);
  }
}

const documentsOf = (
  served: readonly {
    readonly group: string;
    readonly version: string;
    forKubectl(): unknown;
  }[],
): { group: string; version: string; document: unknown }[] =>
  served.map((view) => ({
    group: view.group,
    version: view.version,
    document: view.forKubectl(),
  }));

function negotiateFormat(
  forms: readonly DocumentFormat[],
  accept: string | undefined,
): DocumentFormat {
  for (const clause of parseAccept(accept)) {
    const found = forms.find((form) => form.accepts(clause));
    if (found) return found;
  }
  throw notAcceptable(forms.map(({ type }) => type));
}

/** Reports whether If-None-Match contains the ETag, by weak comparison (RFC 9110 §13.1.2). */
const etagMatches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
