/// <reference types="node" preserve="true" />
/**
 * The entry point of the core as a library, the package `vestibule-apiserver`: what an API server of
 * one's own needs (docs/tutorials/api-server-of-your-own.md).
 */

export { createLog, type Log } from '../../observability/log.js';
export { type Action, type ActionDefinition, defineAction } from '../../registry/action.js';
// Authentication and authorization
export type { AuthenticationRequest, Authenticator } from '../../registry/authenticator.js';
export type { AuthorizationAttributes, Authorizer } from '../../registry/authorizer.js';
export type {
  AnyKind,
  Call,
  Caller,
  Column,
  Decision,
  Draft,
  Kind,
  KindDefinition,
  KindObject,
  Metadata,
  ObjectOf,
  OwnerReference,
  Ports,
  PropagationPolicy,
  Reader,
  Settings,
  Strategy,
  Transaction,
  Verb,
} from '../../registry/kind.js';
// Kinds
export { type DefineKind, type KindDefaults, kindsOf } from '../../registry/kinds-of.js';
export type { Limits } from '../../registry/limits/limit-settings.js';

// Schemas
export {
  type Condition,
  conditions,
  withTransitionTimes,
} from '../../registry/schema/conditions.js';
export { atomicObject, mapList, setList } from '../../registry/schema/list-type.js';
export { namespacedName } from '../../registry/schema/namespaced-name.js';
export { describePattern, lineOfText } from '../../registry/schema/pattern.js';
export { type SecretStorage, secret } from '../../registry/schema/secret-schema.js';
export { fromTimestamp, toTimestamp } from '../../registry/schema/timestamp.js';
export {
  duplicateValue,
  forbiddenField,
  invalidValue,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from '../../registry/status/field-errors.js';

// Errors
export {
  badRequest,
  type Cause,
  conflict,
  forbidden,
  invalid,
  notFound,
  StatusError,
  tooManyRequests,
  unauthorized,
  unavailable,
} from '../../registry/status/status.js';
// Background work
export { Controller, type Reconciler } from '../../registry/store/controller.js';
export { GarbageCollector } from '../../registry/store/garbage/garbage-collector.js';
export { Informer } from '../../registry/store/informer.js';
export type { Outcome, Worker } from '../../registry/store/outbox.js';
export { Outbox } from '../../registry/store/outbox.js';
export { Registry } from '../../registry/store/registry.js';
export { hasSecret, openSecret, secretMatches } from '../../registry/store/secret-fields.js';
export { Store } from '../../registry/store/store.js';
export { WatchCache } from '../../registry/watchcache/watch-cache.js';
export { Keys, newKeys } from '../../security/keyring.js';
export { startCompactor } from '../../storage/compactor.js';
export { openStorage, type StorageOptions } from '../../storage/open-storage.js';
export type { Storage } from '../../storage/storage.js';
export type { AuditSink } from '../chain/audit.js';
export type { HealthCheck } from '../health.js';
// Parts, for a server that is wired in another way
export { Server } from '../server.js';
export type { KubeApiServer } from './access-review-client.js';
export { type ApiServer, startApiServer } from './api-server.js';
export { bearerToken, type TokenUser } from './bearer-token.js';
export type { ClientAuthority, RequestHeaderOptions } from './client-authority.js';
export { openKeys } from './open-keys.js';
export type { ApiServerOptions } from './options.js';
export { type SubjectAccessReviewOptions, subjectAccessReviews } from './subject-access-reviews.js';
export type { Authorize } from './waiting-authorizer.js';
