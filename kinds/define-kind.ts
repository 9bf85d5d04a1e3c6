import { kindsOf } from '../registry/kinds-of.js';
import { formerVersion, group, version } from './api-version.js';

/**
 * Defines a kind of this service; `hack/new-kind` writes one. No kind takes finalizers: who sets one
 * could keep a person's data after the person deleted it.
 */
export const defineKind = kindsOf({
  group,
  version,
  versions: [{ version: formerVersion, deprecated: true }],
  categories: ['identity'],
  allowsFinalizers: false,
});
