import { createHash } from 'node:crypto';
import { apiVersion, group, version } from '../../registry/kind.js';
import type { Registry } from '../../registry/registry.js';
import { notAcceptable } from '../../registry/status.js';
import { clausesOf, takesJSON, type Clause } from '../codec/accept.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import {
  apiVersions,
  groupDiscovery,
  groupList,
  oneGroup,
  resourceList,
  versionInfo,
} from './discovery.js';
import type { Encoder } from '../http/response.js';
import { kubernetesOpenapi } from './openapi-kubectl.js';
import { openapi } from './openapi.js';
import { documentPaths } from '../request/request-info.js';

/** An encoded document and its digest, for revalidation. */
interface Made {
  readonly body: Buffer;
  readonly digest: string;
}

/** One format of a document, and the media ranges that it satisfies. */
interface Form {
  readonly type: string;
  answers(clause: Clause): boolean;
  made(): Made;
}

const swagger = /^application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf$/;
const v3 = `/openapi/v3/apis/${apiVersion}`;
const year = 31_536_000;

function form(type: string, answers: (clause: Clause) => boolean, make: () => unknown): Form {
  let made: Made | undefined;
  const encode = (): Made => {
    const value = make();
    const body = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    return {
      body,
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
    answers,
    made: () => {
      made ??= encode();
      return made;
    },
  };
}

const plain = (make: () => unknown): Form =>
  form('application/json', (clause) => takesJSON(clause) && clause.as === undefined, make);

/** Both versions of aggregated discovery; clients read the Content-Type. */
const aggregated = (registry?: Registry): Form[] =>
  ['v2', 'v2beta1'].map((one) =>
    form(
      `application/json;g=apidiscovery.k8s.io;v=${one};as=APIGroupDiscoveryList`,
      (clause) =>
        takesJSON(clause) &&
        clause.as === 'APIGroupDiscoveryList' &&
        clause.group === 'apidiscovery.k8s.io' &&
        clause.version === one,
      () => groupDiscovery(registry, one),
    ),
  );

/**
 * The discovery and OpenAPI documents: encoded once, in the format that Accept prefers, revalidated
 * by ETag (docs/design/kubernetes.md#documents).
 */
export class Documents {
  readonly #encoder: Encoder;
  readonly #forms: ReadonlyMap<string, readonly Form[]>;

  constructor(registry: Registry, release: string, encoder: Encoder) {
    this.#encoder = encoder;
    const resources = plain(() => resourceList(registry));
    const whole = plain(() => openapi(registry, release));
    const kubernetes = plain(() => kubernetesOpenapi(openapi(registry, release)));
    this.#forms = new Map([
      ['/api', [plain(() => apiVersions), ...aggregated()]],
      [`/api/${version}`, [resources]],
      ['/api/openapi/v3', [whole]],
      ['/apis', [plain(() => groupList), ...aggregated(registry)]],
      [`/apis/${group}`, [plain(() => oneGroup)]],
      [`/apis/${apiVersion}`, [resources]],
      [
        '/openapi/v3',
        [
          plain(() => ({
            paths: {
              [`apis/${apiVersion}`]: {
                serverRelativeURL: `${v3}?hash=${kubernetes.made().digest}`,
              },
            },
          })),
        ],
      ],
      [v3, [kubernetes]],
      [
        '/openapi/v2',
        [
          form(
            'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
            ({ type }) => swagger.test(type),
            () => Buffer.alloc(0),
          ),
          plain(() => ({ swagger: '2.0', info: { title: 'Vestibule', version }, paths: {} })),
        ],
      ],
      ['/version', [plain(() => versionInfo(release))]],
    ]);
    for (const path of documentPaths)
      if (!this.#forms.has(path)) throw new Error(`${path} is no document`);
  }

  /** Sends a document; 304 if the client has it, 406 if no format is acceptable. */
  send(req: ApiRequest, res: ApiResponse): void {
    const { path, query } = req.authorized!.requestInfo as {
      path: string;
      query: ReadonlyMap<string, string>;
    };
    const { type, made } = formFor(this.#forms.get(path)!, req.headers.accept);
    const { body, digest } = made();
    const hash = path === v3 ? query.get('hash') : undefined;
    if (hash !== undefined && hash !== digest)
      return this.#encoder.send(req, res, 301, Buffer.alloc(0), [
        'Location',
        `${v3}?hash=${digest}`,
        'Cache-Control',
        'no-store',
      ]);
    const etag = `"${digest}"`;
    const headers = [
      'Vary',
      'Accept',
      'ETag',
      etag,
      ...(hash === undefined
        ? ['Cache-Control', 'public, max-age=0']
        : [
            'Cache-Control',
            'public, immutable',
            'Expires',
            new Date(Date.now() + year * 1000).toUTCString(),
          ]),
    ];
    if (matches(req.headers['if-none-match'], etag))
      return this.#encoder.send(req, res, 304, Buffer.alloc(0), headers);
    this.#encoder.send(req, res, 200, body, [...headers, 'Content-Type', type]);
  }
}

function formFor(forms: readonly Form[], accept: string | undefined): Form {
  for (const clause of clausesOf(accept)) {
    const found = forms.find((one) => one.answers(clause));
    if (found) return found;
  }
  throw notAcceptable(forms.map(({ type }) => type));
}

/** Reports whether If-None-Match contains the ETag, by weak comparison (RFC 9110 §13.1.2). */
const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
