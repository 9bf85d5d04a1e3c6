export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  /** Whether a deletion of the owner in the foreground waits for this object. */
  blockOwnerDeletion?: boolean;
}

/** What becomes of dependents when an object is deleted (Kubernetes: DeleteOptions). */
export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

/**
 * metadata of every object (docs/design/kubernetes.md#metadata). `resourceVersion` is the store's
 * and never stored inside the value.
 */
export interface Metadata {
  name: string;
  /** Of an object of a namespaced kind. */
  namespace?: string;
  /** The prefix that the name was generated from. */
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  /** RFC 3339, UTC, whole seconds. */
  creationTimestamp: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  /** When the deletion started of an object that is still there. */
  deletionTimestamp?: string;
  /** 0 beside deletionTimestamp where finalizers are served. */
  deletionGracePeriodSeconds?: number;
  /** Who has something to do before the object goes, by qualified names. */
  finalizers?: string[];
  /** Who owns which field; absent until someone applies (docs/design/apply.md). */
  managedFields?: ManagedFieldsEntry[];
}

/** The fields that one manager owns (Kubernetes: ManagedFieldsEntry). */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  /** RFC 3339, UTC, whole seconds. */
  time?: string;
  fieldsType: 'FieldsV1';
  /** A set of fields as a tree (Kubernetes: FieldsV1). */
  fieldsV1: object;
  /** Present if the fields are those of status, which are written at a path of their own. */
  subresource?: 'status';
}

/** An object of a kind as the server holds it; `internal` never leaves it. */
export interface KindObject<S = any, T = any, I = any> {
  metadata: Metadata;
  spec: S;
  status: T;
  internal: I;
}
