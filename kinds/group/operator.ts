/** Someone who runs the service, as policy will see them. */
export interface Operator {
  readonly domain: string;
  readonly groups: readonly string[];
  /** The name of their Account, where they have one. */
  readonly account?: string;
  /** Has still to sign up. */
  readonly isNew?: boolean;
  /** Has a passkey, and so another way in than by mail. */
  readonly hasPasskey?: boolean;
}
