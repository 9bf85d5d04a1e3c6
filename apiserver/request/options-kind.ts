import type { Verb } from '../../registry/kind.js';
import type { KindNames } from '../../registry/status/status.js';

const kinds: Readonly<Record<Verb, string>> = {
  get: 'GetOptions',
  list: 'ListOptions',
  watch: 'ListOptions',
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/** Returns the names of a verb's options, which errors about query parameters contain. */
export const optionsKind = (verb: Verb): KindNames => ({
  kind: kinds[verb],
  resource: '',
  group: 'meta.k8s.io',
});
