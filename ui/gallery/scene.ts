import type { Script } from './fake-api.js';

/** One state of one page: what the API answers, and how the page was opened. */
export interface Scene {
  page?: 'signin' | 'account' | 'mailbox' | 'policy' | 'recovery';
  /** What stands behind the # in the address. */
  fragment?: string;
  /** What stands behind the ? in the address, as the provider sends people back. */
  search?: string;
  script: Script;
  /** The token of an emailed link. */
  token?: string;
  /** What leads to the state once the page is ready: a code typed, a button pressed. */
  act?: (page: Document) => void | Promise<void>;
}
