import { clone } from '../../registry/encoded-object.js';
import type { Call, KindObject } from '../../registry/kind.js';
import {
  type AppliedConfiguration,
  ConfigurationApply,
} from '../../registry/managedfields/apply.js';
import { withoutNulls } from '../../registry/managedfields/nulls.js';
import type { TrackedFields } from '../../registry/managedfields/tracked-fields.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { namespacedName } from '../../registry/schema/namespaced-name.js';
import { prune } from '../../registry/schema/schema.js';
import { forbiddenField, invalidType, requiredValue } from '../../registry/status/field-errors.js';
import {
  badRequest,
  type Cause,
  invalid,
  notFound,
  StatusError,
} from '../../registry/status/status.js';
import type { Registry } from '../../registry/store/registry.js';
import { schemasIn } from '../../registry/store/registry-view.js';
import { hubOf, type KindView } from '../../registry/versions/kind-view.js';
import type { Authorization } from '../chain/authorization.js';
import { originOf } from '../chain/authorization-attributes.js';
import { booleanParameter } from '../codec/query.js';
import type { ObjectRequest } from '../http/message.js';
import { optionsKind } from '../request/options-kind.js';
import {
  type ObjectRequestInfo,
  type ResourceRequestInfo,
  statusOf,
} from '../request/request-info.js';
import {
  checkIdentity,
  checkVersion,
  draftOf,
  requireName,
  requireNamespace,
} from './apply-body.js';
import type { BodyReader } from './body-reader.js';
import {
  checkWriteParameters,
  hiddenCharacters,
  metadataFaults,
  requireKind,
  unknownMembers,
} from './field-validation.js';

/** The object after an apply, with the HTTP status. */
interface Applied {
  readonly code: 200 | 201;
  readonly object: KindObject;
  readonly call: Call;
}

/** Another request may create and delete the object at the same time; then it is tried again. */
const maxTries = 5;

/** Serves server-side apply (docs/design/apply.md). */
export class Applier {
  readonly #registry: Registry;
  readonly #authorization: Authorization;
  readonly #bodies: BodyReader;

  constructor(registry: Registry, authorization: Authorization, bodies: BodyReader) {
    this.#registry = registry;
    this.#authorization = authorization;
    this.#bodies = bodies;
  }

  /**
   * Applies the body to the object, or creates it as the chain authorized. `callOf` returns the call
   * of a request as it is authorized now.
   */
  async apply(req: ObjectRequest, callOf: () => Call): Promise<Applied> {
    const { requestInfo, caller } = req.authorized;
    const { kind, view, name } = requestInfo;
    const body = await this.#bodies.readConfiguration(req, kind.bodyLimit);
    const options = optionsOf(requestInfo);
    const subresource = statusOf(requestInfo);
    const fields = fieldsOf(view, name, body, this.#registry, subresource);
    const applied = { ...options, view, fields, subresource };
    for (let tries = 1; ; tries += 1) {
      const { createsObject = false } = req.authorized;
      try {
        return await this.#try(requestInfo, body, applied, createsObject, callOf());
      } catch (error) {
        if (tries === maxTries || !mayHaveRaced(error)) throw error;
        const authorized = await this.#authorization.authorize(requestInfo, caller, originOf(req), {
          mayCreate: true,
        });
        req.authorized = { ...authorized, requestInfo };
        if ((authorized.createsObject ?? false) === createsObject) throw error;
      }
    }
  }

  async #try(
    { kind, name, namespace }: ObjectRequestInfo,
    body: Record<string, unknown>,
    applied: AppliedConfiguration,
    createsObject: boolean,
    call: Call,
  ): Promise<Applied> {
    const apply = new ConfigurationApply(this.#registry.schemas(kind).tracked, applied);
    const metadata = isRecord(body.metadata) ? body.metadata : {};
    requireNamespace(metadata.namespace, namespace);
    if (createsObject) {
      if (metadata.uid || metadata.resourceVersion) throw notFound(kind, name);
      const object = await call.change((tx) => {
        const { spec = {}, metadata: given } = clone(applied.fields); // Each try changes its own.
        const fields = { ...applied.fields, spec, metadata: { ...given, name } };
        return tx.create(kind, draftOf(hubOf(kind), fields, namespace), apply);
      });
      return { code: 201, object, call };
    }
    const object = await call.change((tx) =>
      tx.update(
        kind,
        namespacedName({ namespace, name }),
        (next) => {
          if (metadata.resourceVersion) checkVersion(kind, next, metadata, 'merge');
          checkIdentity(kind, next, { ...metadata, name }, 'merge');
          apply.merge(next, call.now);
        },
        apply,
      ),
    );
    return { code: 200, object, call };
  }
}

const mayHaveRaced = (error: unknown): boolean =>
  error instanceof StatusError && (error.reason === 'AlreadyExists' || error.reason === 'NotFound');

/** Returns the parameters of an apply; throws 400 or 422. */
function optionsOf({
  query,
  verb,
}: ResourceRequestInfo): Pick<AppliedConfiguration, 'manager' | 'force'> {
  checkWriteParameters(query, verb);
  const manager = query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalid(optionsKind(verb), '', [
      requiredValue('fieldManager', 'is required for apply patch'),
    ]);
  }
  return { manager, force: booleanParameter(query, 'force') };
}

/** Returns the fields that a configuration applies; throws 400 or 422. */
function fieldsOf(
  view: KindView,
  name: string,
  body: Record<string, unknown>,
  registry: Registry,
  subresource: 'status' | undefined,
): TrackedFields {
  const { kind } = view;
  for (const member of ['apiVersion', 'kind'] as const) {
    if (body[member] === undefined) throw badRequest(`${member} must be set in an applied object`);
  }
  requireKind(body, { apiVersion: view.apiVersion, kind: kind.kind });
  const { tracked } = registry.schemas(kind);
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  requireName(metadata.name, name);
  if (Array.isArray(metadata.managedFields) && metadata.managedFields.length > 0) {
    throw badRequest('metadata.managedFields must be empty in an applied object');
  }
  const schemas = schemasIn(registry, view);
  const unknown = unknownMembers(body, schemas.spec);
  if (subresource) unknown.push(...prune(schemas.status, body.status, 'status'));
  if (unknown.length > 0) {
    throw badRequest(`field not declared in schema: ${unknown.map((one) => `.${one}`).join(', ')}`);
  }
  const part = subresource ?? 'spec';
  const causes: Cause[] = [
    ...metadataFaults(kind, metadata),
    ...hiddenCharacters(body[part], part),
  ];
  if (!isRecord(body[part] ?? {})) causes.push(invalidType(part, 'must be an object'));
  if (metadata.generateName) {
    causes.push(forbiddenField('metadata.generateName', 'an applied object has a name'));
  }
  if (causes.length > 0) throw invalid(kind, name, causes);
  const sent = view.names?.at(part)?.toHub(body[part]) ?? body[part];
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  const fields = {
    metadata: { labels, annotations, finalizers, ...(!kind.owner && { ownerReferences }) },
    spec: sent,
  };
  const given = withoutNulls(tracked, subresource ? { status: sent } : fields) as TrackedFields;
  return subresource ? given : { metadata: given.metadata ?? {}, spec: given.spec };
}
