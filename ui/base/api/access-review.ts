import { send } from './api.js';

/** What an access review asks for. */
export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly verb: string;
  readonly name?: string | undefined;
}

/** The answer of policy. `denied`: a rule forbids it; otherwise no rule permits it. */
export interface Access {
  readonly allowed: boolean;
  readonly denied?: boolean;
}

/**
 * Asks whether the caller may do something (SelfSubjectAccessReview). Returns undefined if there is
 * no answer.
 */
export async function reviewAccess(
  resourceAttributes: ResourceAttributes,
): Promise<Access | undefined> {
  const response = await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  }).catch(() => undefined);
  return response?.ok ? ((await response.json()) as { status: Access }).status : undefined;
}
