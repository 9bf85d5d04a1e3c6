import type { IncomingMessage } from 'node:http';

/**
 * The key of a value of {@link RequestState}, which has the value's type.
 * For example, `new StateKey<Method>()` is the key of a sign-in's method.
 */
export class StateKey<T> {
  declare readonly type: T;
}

/** What the parts of one request leave for each other, each value under the key of its owner. */
export class RequestState {
  readonly #values = new Map<StateKey<unknown>, unknown>();

  get<T>(key: StateKey<T>): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  has(key: StateKey<unknown>): boolean {
    return this.#values.has(key);
  }

  set<T>(key: StateKey<T>, value: T): void {
    this.#values.set(key, value);
  }

  /** Returns the map of a key: values that have names. It is empty at first. */
  mapOf<V>(key: StateKey<Map<string, V>>): Map<string, V> {
    const map = this.get(key) ?? new Map<string, V>();
    this.set(key, map);
    return map;
  }
}

/** A single-use object, and the grant that is revoked when it is used twice. */
export interface SingleUse {
  readonly key: string;
  readonly model: string;
  readonly grantId?: string;
}

/** The request, for limits and projections. */
export interface Origin {
  readonly request?: IncomingMessage;
  readonly network?: string;
  readonly auditID?: string;
}
