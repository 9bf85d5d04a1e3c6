import { kindsOf } from '../registry/kinds-of.js';
import { formerVersion, group, version } from './api-version.js';

/** Defines a kind of this service; `hack/new-kind` writes one. */
export const defineKind = kindsOf({
  group,
  version,
  versions: [{ version: formerVersion, deprecated: true }],
  categories: ['identity'],
});
