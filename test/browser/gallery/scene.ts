import type { Script } from './fake-api.js';

/** One state of one page: the responses of the API, and how the page was opened. */
export interface Scene {
  page?: 'signin' | 'account' | 'mailbox' | 'policy' | 'recovery' | 'invitation';
  /** The fragment of the address. */
  fragment?: string;
  /** The query of the address, as the provider redirects people back. */
  search?: string;
  script: Script;
  /** The token of an emailed link. */
  token?: string;
  /**
   * The input that leads to the state after the page is ready: typing a code, pressing a button.
   */
  act?: (page: Document) => void | Promise<void>;
}
