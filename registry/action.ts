import type { z } from 'zod';
import type { AnyKind, Call, KindObject, ObjectOf } from './kind.js';
import type { LimitOf } from './limits/rate-limit.js';

/** An action: a POST, GET or PATCH on `<resource>/<name>/<subresource>`. */
export interface ActionDefinition<K extends AnyKind, B extends z.ZodTypeAny> {
  of: K;
  subresource: string;
  verb: 'create' | 'get' | 'patch';
  /** The kind of the request's body, for discovery. */
  kind: string;
  description: string;
  /**
   * The body's spec; absent for a GET. For `patch` it is the spec of `answers`, as a merge patch.
   */
  spec?: B;
  /** The kind of the response; the target's by default. */
  answers?: AnyKind | { kind: string; schema: z.ZodTypeAny };
  /** 200, or 201 where a named object is made. */
  code?: 200 | 201;
  bodyLimit?: number;
  /** Counted by client network before the body is decoded. */
  limit?: LimitOf;
  /**
   * Runs the action on the target as it was when the request was authorized. Returns an object of
   * `answers`.
   */
  run(call: Call, target: ObjectOf<K>, body: ActionBody<z.infer<B>>): Promise<unknown>;
}

/**
 * The decoded and validated body; for `patch`, a function that applies it to an object of the
 * response's kind.
 */
export interface ActionBody<B> {
  readonly spec: B;
  apply(next: KindObject): void;
}

export interface Action extends Omit<ActionDefinition<any, z.ZodTypeAny>, 'run' | 'code'> {
  readonly code: 200 | 201;
  run(call: Call, target: any, body: ActionBody<any>): Promise<any>;
}

/**
 * Defines an action; kinds/index.ts lists it.
 *
 * @example
 * ```ts
 * export const clearGroup = defineAction({
 *   of: Group,
 *   subresource: 'clear',
 *   verb: 'create',
 *   kind: 'GroupClearing',
 *   description: 'Removes every member.',
 *   spec: z.object({}),
 *   run: (call, { metadata: { name } }) =>
 *     call.change((tx) =>
 *       tx.update(Group, name, ({ spec }) => {
 *         spec.members = [];
 *       }),
 *     ),
 * });
 * ```
 */
export function defineAction<K extends AnyKind, B extends z.ZodTypeAny>(
  definition: ActionDefinition<K, B>,
): Action {
  return { ...definition, code: definition.code ?? 200 };
}
