import type { KindObject, PropagationPolicy } from '../../registry/kind.js';
import { prune, Validator } from '../../registry/schema/schema.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { invalidValue, unsupportedValue } from '../../registry/status/field-errors.js';
import { badRequest, type Cause, conflict, invalid } from '../../registry/status/status.js';
import { readObject, requireBodyType } from '../http/body.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { deleteOptionsSchema, type SentDeleteOptions } from '../request/delete-options.js';
import { optionsKind } from '../request/options-kind.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import { checkUnknownFields, isDryRun } from './field-validation.js';

/** The options of a deletion. */
export type DeleteOptions = SentDeleteOptions & { readonly isDryRun: boolean };

const validator = new Validator(deleteOptionsSchema);
const policies: readonly PropagationPolicy[] = ['Orphan', 'Background', 'Foreground'];

/**
 * Returns the options of a deletion from body and query; throws 400, 415 or 422
 * (docs/design/kubernetes.md#deletes).
 */
export async function readDeleteOptions(
  req: ApiRequest,
  res: ApiResponse,
  requestInfo: ResourceRequestInfo,
  max: number,
): Promise<DeleteOptions> {
  requireBodyType(req);
  const { apiVersion: bodyVersion, kind, ...body } = await readObject(req, max, true);
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw badRequest('the kind in the data does not match the expected kind (DeleteOptions)');
  }
  if (
    bodyVersion !== undefined &&
    !['v1', 'meta.k8s.io/v1', requestInfo.view.apiVersion].includes(String(bodyVersion))
  ) {
    throw badRequest('the API version in the data does not match the expected API version (v1)');
  }
  const names = optionsKind('delete');
  checkUnknownFields(
    req,
    res,
    requestInfo,
    requestInfo.name ?? '',
    prune(validator.schema, body, 'options').map((path) => path.slice('options.'.length)),
    names,
  );
  const causes: Cause[] = validator
    .check(body, '')
    .map((cause) => ({ ...cause, field: cause.field?.replace(/^\./, '') ?? '' }));
  const options = body as SentDeleteOptions;
  const asked = options.propagationPolicy ?? requestInfo.query.get('propagationPolicy');
  const policy = policies.find((known) => known === asked);
  if (asked !== undefined && policy === undefined && options.propagationPolicy === undefined) {
    causes.push(
      unsupportedValue(
        'propagationPolicy',
        'supported values: "Orphan", "Background", "Foreground"',
      ),
    );
  }
  if (asked !== undefined && options.orphanDependents !== undefined) {
    const both = 'orphanDependents and deletionPropagation cannot be both set';
    causes.push(invalidValue('propagationPolicy', both));
  }
  if (causes.length > 0) throw invalid(names, requestInfo.name ?? '', causes);
  const former = options.orphanDependents ? 'Orphan' : 'Background';
  return {
    ...options,
    propagationPolicy: policy ?? (options.orphanDependents === undefined ? undefined : former),
    isDryRun: isDryRun(requestInfo, options.dryRun ?? []),
  };
}

/** Throws 409 if the object does not meet the preconditions. */
export function checkPreconditions(
  requestInfo: ResourceRequestInfo,
  { preconditions = {} }: DeleteOptions,
  { metadata }: KindObject,
): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (preconditions[field] !== undefined && preconditions[field] !== metadata[field]) {
      throw conflict(
        requestInfo.kind,
        metadata.name,
        `Precondition failed: ${field} in precondition does not match ${field} of the object`,
      );
    }
  }
}

/** Returns an object as it is while it is deleted in steps; `now` in ms since the epoch. */
export const deleted = (old: KindObject, now: number): KindObject => ({
  ...old,
  metadata: { deletionTimestamp: toTimestamp(now), ...old.metadata },
});
