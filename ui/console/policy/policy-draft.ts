/** A policy that is being written. */
export interface PolicyDraft {
  readonly text: string;
  readonly description: string;
  /** The policy that was in force when it was begun. */
  readonly base: string;
}

/** The name under which this tab stores it. */
export const draftKey = 'policy';
