import { kindsOf } from '../registry/kinds-of.js';

/** The API group of every kind (docs/design/api.md#versions). */
export const group = 'id.vestibule.org';

/** The version of the API. */
export const version = 'v1alpha1';

/** Group and version as in objects. */
export const apiVersion = `${group}/${version}`;

/** Defines a kind of this service; `hack/new-kind` writes one. */
export const defineKind = kindsOf({ group, version, categories: ['identity'] });
