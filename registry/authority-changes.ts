/**
 * Says when what an open request was permitted by could have changed: the account, its sessions, grants
 * and groups, or the policy. A replica knows each such change before any later event of a watch.
 */
export interface AuthorityChanges {
  /** Calls `listener` with the account that a change is about; undefined if it is about everyone. */
  subscribe(listener: (account: string | undefined) => void): void;
  /**
   * Notices what ended by the clock. Returns a promise if a change was received that is not in force
   * yet, such as a policy that is being compiled.
   */
  settle(): Promise<void> | undefined;
}
