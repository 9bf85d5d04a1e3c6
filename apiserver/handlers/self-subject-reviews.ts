import { z } from 'zod';
import { userInfo } from '../../registry/caller.js';
import type { AnyKind, Awaitable, Caller, Verb } from '../../registry/kind.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { nameGrammar } from '../../registry/schema/metadata-schema.js';
import { prune, toJSONSchema, Validator } from '../../registry/schema/schema.js';
import { entriesOf } from '../../registry/schema/typed-entries.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import { invalid, noSuchPath, unauthorized } from '../../registry/status/status.js';
import type { Registry } from '../../registry/store/registry.js';
import { hubOf } from '../../registry/versions/kind-view.js';
import type { AccessReviewResult } from '../chain/access-review-result.js';
import type { Authorization } from '../chain/authorization.js';
import { originOf, type RequestOrigin } from '../chain/authorization-attributes.js';
import { fieldsOf, textOf, unwrap } from '../codec/protobuf.js';
import { emptyQuery } from '../codec/query.js';
import { negotiateRepresentation, wholeIn } from '../codec/representation.js';
import { coreGroup } from '../discovery/discovery.js';
import { jsonType, patchTypes, readBytes, readObject, requireBodyType } from '../http/body.js';
import { isBrowser } from '../http/headers.js';
import type { ApiRequest, ApiResponse, PermittedRequest } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import type { ApiPaths } from '../request/api-paths.js';
import {
  isNamespace,
  type NonResourceRequestInfo,
  namespacesPath,
  type ResourceRequestInfo,
  reviewPaths,
  typeOfPath,
} from '../request/request-info.js';
import { statusVerbs } from '../request/verbs.js';
import { checkWriteParameters, isDryRun, requireKind } from './field-validation.js';

const text = (description: string) => z.string().max(1_024).default('').describe(description);
const Resource = z.object({
  namespace: text('Namespace; of namespaced kinds, none is all of them.'),
  verb: text('Verb.'),
  group: text('API group.'),
  version: text('Ignored.'),
  resource: text('Resource.'),
  subresource: text('Subresource.'),
  name: text('Name of the object.'),
});
const NonResource = z.object({ path: text('Path.'), verb: text('Verb.') });
const Spec = z.object({
  resourceAttributes: Resource.optional().describe('What is asked about objects.'),
  nonResourceAttributes: NonResource.optional().describe('What is asked about anything else.'),
});
type ReviewSpec = z.infer<typeof Spec>;

/** What of a kind a review asks about. */
type ReviewScope = Pick<z.infer<typeof Resource>, 'namespace' | 'subresource' | 'name'>;

const validator = new Validator(toJSONSchema(Spec, 'SelfSubjectAccessReview.spec'));
const protobuf = 'application/vnd.kubernetes.protobuf';
const maxBodySize = 64 << 10;
const denied = (reason: string): AccessReviewResult => ({ allowed: false, reason });

/**
 * Access reviews of the caller: kubectl's `auth whoami`, `auth can-i` and `auth can-i --list`
 * (docs/design/kubernetes.md#reviews).
 */
export class SelfSubjectReviews {
  readonly #registry: Registry;
  readonly #paths: ApiPaths;
  readonly #authorization: Authorization;
  readonly #encoder: Encoder;

  constructor(registry: Registry, paths: ApiPaths, authorization: Authorization, encoder: Encoder) {
    this.#registry = registry;
    this.#paths = paths;
    this.#authorization = authorization;
    this.#encoder = encoder;
  }

  /** Serves a POST on a review path. */
  async respond(req: PermittedRequest<NonResourceRequestInfo>, res: ApiResponse): Promise<void> {
    const { requestInfo, caller } = req.authorized;
    const { path, query } = requestInfo;
    const [, , of, version] = path.split('/');
    const apiVersion = `${of}/${version}`;
    const kind = reviewPaths.get(path);
    if (kind === undefined) throw noSuchPath();
    isDryRun({ query, verb: 'create' }); // refuses what is not All
    checkWriteParameters(query, 'create');
    negotiateRepresentation(
      req.headers.accept,
      'review',
      emptyQuery,
      hubOf(this.#registry.kinds[0]!),
    );
    const { body, spec } = await readReview(req, kind);
    const claimed = { kind: body.kind || undefined, apiVersion: body.apiVersion || undefined };
    requireKind(claimed, { kind, apiVersion });
    const answer = (review: object): void =>
      this.#encoder.json(req, res, 201, { kind, apiVersion, metadata: {}, ...review });
    if (kind === 'SelfSubjectReview') {
      const user = userInfo(caller);
      if (!user) throw unauthorized();
      return answer({ status: { userInfo: user } });
    }
    if (kind === 'SelfSubjectRulesReview') {
      const status = await this.#rules(namespaceIn(spec), caller, originOf(req));
      return answer({ spec: {}, status });
    }
    const review = validateSpec(spec);
    answer({ spec: review, status: await this.#review(review, caller, originOf(req)) });
  }

  #review(
    { resourceAttributes, nonResourceAttributes }: ReviewSpec,
    caller: Caller,
    origin: RequestOrigin,
  ): Awaitable<AccessReviewResult> {
    if (resourceAttributes) return this.#reviewResources(resourceAttributes, caller, origin);
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    const type = typeOfPath(path, this.#paths);
    return type && ['get', 'head'].includes(verb)
      ? this.#authorization.canDoNonResource({ type, path, query: emptyQuery }, caller, origin)
      : denied('there is nothing to be done there');
  }

  /** Returns a SubjectRulesReviewStatus: what an access review without a name permits. */
  async #rules(namespace: string, caller: Caller, origin: RequestOrigin): Promise<unknown> {
    const resourceRules: unknown[] = [];
    for (const kind of this.#registry.kinds) {
      for (const [subresource, offered] of verbsOf(kind, this.#registry)) {
        const permitted = await Promise.all(
          offered.map((verb) =>
            this.#reviewKind(kind, verb, { namespace, subresource, name: '' }, caller, origin),
          ),
        );
        const verbs = offered.filter((_, i) => permitted[i]?.allowed);
        const resource = subresource ? `${kind.resource}/${subresource}` : kind.resource;
        if (verbs.length > 0) {
          resourceRules.push({ verbs, apiGroups: [kind.group], resources: [resource] });
        }
      }
    }
    for (const { name, verbs: offered } of coreGroup(this.#registry)) {
      const permitted = await Promise.all(
        offered.map((verb) => this.#reviewCore({ resource: name, verb }, caller, origin)),
      );
      const verbs = offered.filter((_, i) => permitted[i]?.allowed);
      if (verbs.length > 0) resourceRules.push({ verbs, apiGroups: [''], resources: [name] });
    }
    const nonResourceRules: unknown[] = [];
    for (const [type, nonResourceURLs] of entriesOf(otherPaths)) {
      const [path] = nonResourceURLs;
      const request = { type, path, query: emptyQuery };
      if ((await this.#authorization.canDoNonResource(request, caller, origin)).allowed) {
        nonResourceRules.push({ verbs: ['get'], nonResourceURLs });
      }
    }
    return {
      resourceRules,
      nonResourceRules,
      incomplete: true,
      evaluationError: 'policy may decide otherwise about single objects',
    };
  }

  /** Reviews the core group: namespaces are read as documents are, events as their kind. */
  #reviewCore(
    { resource, verb }: { resource: string; verb: string },
    caller: Caller,
    origin: RequestOrigin,
  ): Awaitable<AccessReviewResult> {
    const found = coreGroup(this.#registry).find(({ name }) => name === resource);
    if (!found) return denied('no such resource is served');
    if (!found.verbs.includes(verb)) return denied('that verb is not offered');
    if (resource === 'namespaces') {
      const request = { type: 'discovery', path: namespacesPath, query: emptyQuery } as const;
      return this.#authorization.canDoNonResource(request, caller, origin);
    }
    const { eventKind } = this.#registry;
    return eventKind
      ? this.#reviewKind(eventKind, verb, wholeKind, caller, origin)
      : denied('no such resource is served');
  }

  /**
   * A star means everything: allowed only if each resource and verb is. `kubectl auth can-i '*' '*'`
   * names no group.
   */
  async #reviewResources(
    attributes: z.infer<typeof Resource>,
    caller: Caller,
    origin: RequestOrigin,
  ): Promise<AccessReviewResult> {
    if (attributes.group === '' && attributes.resource !== '*') {
      return this.#reviewCore(attributes, caller, origin);
    }
    const every = attributes.resource === '*' ? ['*', ''] : ['*'];
    const isOfGroup = ({ group }: AnyKind) =>
      group === attributes.group || every.includes(attributes.group);
    const served = this.#registry.kinds.filter(isOfGroup);
    if (served.length === 0) return denied('no such API group is served');
    const kinds = served.filter(({ resource }) => ['*', resource].includes(attributes.resource));
    if (kinds.length === 0) return denied('no such resource is served');
    for (const kind of kinds) {
      for (const verb of attributes.verb === '*' ? kind.verbs : [attributes.verb]) {
        const result = await this.#reviewKind(kind, verb, attributes, caller, origin);
        if (!result.allowed) return result;
      }
    }
    return { allowed: true };
  }

  #reviewKind(
    kind: AnyKind,
    verb: string,
    scope: ReviewScope,
    caller: Caller,
    origin: RequestOrigin,
  ): Awaitable<AccessReviewResult> {
    const requestInfo = this.#requestInfoFor(kind, verb, scope);
    return requestInfo
      ? this.#authorization.canDo(requestInfo, caller, origin)
      : denied('that verb is not offered');
  }

  #requestInfoFor(
    kind: AnyKind,
    verb: string,
    { namespace, subresource, name }: ReviewScope,
  ): ResourceRequestInfo | undefined {
    if (name !== '' && name !== '~' && !(name.length <= 253 && nameGrammar.test(name))) {
      return undefined;
    }
    if (name === '~' && !kind.ownName) {
      return undefined;
    }
    const isInNamespace = kind.scope === 'Namespaced' && namespace !== '';
    if (isInNamespace && !isNamespace(namespace)) return undefined;
    const base = {
      type: 'resource' as const,
      kind,
      view: hubOf(kind),
      representation: wholeIn(hubOf(kind)),
      query: emptyQuery,
      ...(isInNamespace && { namespace }),
    };
    const action = this.#registry
      .actionsOn(kind, subresource)
      .find((action) => action.verb === verb);
    if (subresource === 'status' && kind.hasStatusSubresource) {
      const offered = statusVerbs.find((one) => one === verb);
      return offered && { ...base, verb: offered, subresource, ...(name && { name }) };
    }
    if (subresource !== '') {
      return action && { ...base, verb: action.verb, action, subresource, ...(name && { name }) };
    }
    if (!(kind.verbs as readonly string[]).includes(verb)) return undefined;
    if (verb === 'list' && name) {
      return { ...base, verb, query: new Map([['fieldSelector', `metadata.name=${name}`]]) };
    }
    return {
      ...base,
      verb: verb as Verb,
      ...(name && !['list', 'create', 'deletecollection'].includes(verb) && { name }),
    };
  }
}

/** Returns the verbs of a kind, and of each of its subresources by name. */
function verbsOf(kind: AnyKind, registry: Registry): ReadonlyMap<string, readonly string[]> {
  const verbs = new Map<string, string[]>([['', [...kind.verbs]]]);
  if (kind.hasStatusSubresource) verbs.set('status', [...statusVerbs]);
  for (const { of, subresource, verb } of registry.actions) {
    if (of === kind) verbs.set(subresource, [...(verbs.get(subresource) ?? []), verb]);
  }
  return verbs;
}

/** What is no object, by the type of its path. */
const otherPaths = {
  discovery: ['/api', '/api/*', '/apis', '/apis/*', '/openapi/*', '/version'],
  health: ['/healthz', '/livez', '/livez/*', '/readyz', '/readyz/*'],
} as const;

interface ReviewBody {
  readonly body: { readonly kind?: unknown; readonly apiVersion?: unknown };
  readonly spec: unknown;
}

/** Reads the body as JSON or, from kubectl, as protobuf; throws 400, 413 or 415. */
async function readReview(req: ApiRequest, kind: string): Promise<ReviewBody> {
  if (isBrowser(req) || req.headers['content-type'] !== protobuf) {
    requireBodyType(req, patchTypes, [jsonType]);
    const body = await readObject(req, maxBodySize);
    return { body, spec: body.spec };
  }
  const { raw, ...body } = unwrap(await readBytes(req, maxBodySize));
  const bytes = fieldsOf(raw).get(2);
  if (kind === 'SelfSubjectAccessReview') return { body, spec: specOf(bytes) };
  if (kind !== 'SelfSubjectRulesReview' || !bytes) return { body, spec: undefined };
  return { body, spec: { namespace: textOf(fieldsOf(bytes), 1) } };
}

/** Everything of a kind. */
const wholeKind: ReviewScope = { namespace: '', subresource: '', name: '' };

/** Returns the namespace that a SelfSubjectRulesReview asks about; empty for all of them. */
const namespaceIn = (spec: unknown): string =>
  isRecord(spec) && typeof spec.namespace === 'string' ? spec.namespace : '';

const resourceFields = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

function specOf(bytes: Buffer = Buffer.alloc(0)): unknown {
  const decodeFields = (message: Buffer, names: readonly string[]): unknown => {
    const fields = fieldsOf(message);
    return Object.fromEntries(names.map((name, i) => [name, textOf(fields, i + 1)]));
  };
  const fields = fieldsOf(bytes);
  const resource = fields.get(1);
  const other = fields.get(2);
  return {
    ...(resource && { resourceAttributes: decodeFields(resource, resourceFields) }),
    ...(other && { nonResourceAttributes: decodeFields(other, ['path', 'verb']) }),
  };
}

/** Returns the validated spec; throws 422 unless it has exactly one kind of attributes. */
function validateSpec(spec: unknown): ReviewSpec {
  const reviewKind = {
    kind: 'SelfSubjectAccessReview',
    resource: 'selfsubjectaccessreviews',
    group: 'authorization.k8s.io',
  };
  const review = (spec ?? {}) as ReviewSpec;
  prune(validator.schema, review, 'spec');
  const causes = validator.check(review, 'spec');
  if (causes.length === 0 && !review.resourceAttributes === !review.nonResourceAttributes) {
    causes.push(
      invalidValue(
        'spec.resourceAttributes',
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    );
  }
  if (causes.length > 0) throw invalid(reviewKind, '', causes);
  return review;
}
