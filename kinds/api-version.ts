/** The API group of every kind (docs/design/api.md#versions). */
export const group = 'id.vestibule.org';

/** The version of the API that kinds are defined in. */
export const version = 'v1beta1';

/** The version that came before, which is still served. */
export const formerVersion = 'v1alpha1';

/** The versions that are served, the preferred one first. */
export const servedVersions = [version, formerVersion] as const;

/** Group and version as in objects. */
export const apiVersion = `${group}/${version}`;
