import type { Script } from './fake-api.js';

/** One state of one page: what the API answers, and how the page was opened. */
export interface Scene {
  page?: 'signin' | 'mailbox';
  script: Script;
  /** The token of an emailed link. */
  token?: string;
  /** A message that shows the state, done by hand in the gallery: type this code or press this button. */
  then?: (page: Document) => void;
}
