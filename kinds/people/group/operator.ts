/** An operator, as policy sees them. */
export interface Operator {
  readonly domain: string;
  readonly groups: readonly string[];
  /** The name of their Account, if they have one. */
  readonly account?: string;
  /** True if they have not signed up yet. */
  readonly isNew?: boolean;
  /** When their Account was created, in milliseconds since the epoch. */
  readonly created?: number;
  /** True if they can sign in by passkey. */
  readonly hasPasskey?: boolean;
}
