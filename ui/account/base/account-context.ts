import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Account } from '../../api.js';
import type { Names } from '../../decisions/names.js';

/** Why the account is no longer shown: `over` if the session was ended elsewhere or by time. */
export type Ending = 'signedout' | 'over' | 'deleted';

/** What the sections of the page share. */
export interface AccountContext {
  readonly account: Account;
  /** Replaces the account with one from a response. */
  readonly setAccount: (account: Account) => void;
  /** Display names of apps and scopes. */
  readonly names: Names;
  /** This tab is the one that follows changes. */
  readonly isLive: boolean;
  /** The step to continue with, once, after a sign-in. */
  readonly step: string | undefined;
  /** Announces an error to screen readers; undefined clears it. */
  readonly announceError: (words: string | undefined) => void;
  /**
   * Shows the last view instead of the account. A sign-in from there continues with `step`.
   */
  readonly leave: (ending: Ending, step?: string) => void;
}

/** The context of the signed-in account. */
export const CurrentAccount = createContext<AccountContext | undefined>(undefined);

/** Returns the context; only below `CurrentAccount`. */
export const useAccountContext = (): AccountContext => useContext(CurrentAccount)!;

/**
 * Returns the field selector of objects that this account owns, for people who may list all
 * objects.
 */
export const ownedBy = (
  { metadata }: Account,
  field = 'status.account',
): Record<string, string> => ({
  fieldSelector: `${field}=${metadata.name}`,
});
