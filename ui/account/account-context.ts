import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Account } from '../api.js';
import type { Names } from '../decisions/names.js';

/** What the parts of the page share. */
export interface AccountContext {
  readonly account: Account;
  /** Puts in the account as the API just answered it. */
  readonly setAccount: (account: Account) => void;
  /** What people call services and scopes. */
  readonly names: Names;
  /** This tab is the one that follows changes as they happen. */
  readonly isLive: boolean;
  /** The step to go on with, once, after a sign-in in between. */
  readonly step: string | undefined;
  /** Reads out what went wrong; undefined when it no longer holds. */
  readonly announceError: (words: string | undefined) => void;
  /** Shows the last view instead of the account: signed out, or deleted. */
  readonly leave: (ending: 'signedout' | 'deleted') => void;
}

/** The person whose page it is. */
export const CurrentAccount = createContext<AccountContext | undefined>(undefined);

/** What the parts of the page share; only below `Person`. */
export const useAccountContext = (): AccountContext => useContext(CurrentAccount)!;

/** The selector of what this account owns, for those who may list everybody's too. */
export const ownedBy = (
  { metadata }: Account,
  field = 'status.account',
): Record<string, string> => ({
  fieldSelector: `${field}=${metadata.name}`,
});
