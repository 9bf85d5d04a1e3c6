import type { Caller } from './caller.js';

/**
 * Says when what an open request was permitted by could have changed, such as the caller's groups or
 * the policy. A replica knows each such change before any later event of a watch.
 */
export interface AuthorityChanges {
  /** Calls `listener` with each change, as the function that returns whether it concerns a caller. */
  subscribe(listener: (concerns: (caller: Caller) => boolean) => void): void;
  /**
   * Notices what ended by the clock. Returns a promise if a change was received that is not in force
   * yet, such as a policy that is being compiled.
   */
  settle(): Promise<void> | undefined;
}
