import type { ObjectMeta } from '../../api.js';
import type { JsonObject } from './merge.js';

/** A kind of the API, as discovery describes it. */
export interface Kind {
  readonly kind: string;
  readonly resource: string;
  readonly group: string;
  readonly apiVersion: string;
  readonly verbs: readonly string[];
  /** The path of its collection, the one that kubectl uses. */
  readonly path: string;
}

/** An object of any kind. */
export interface AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  metadata: ObjectMeta;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}
