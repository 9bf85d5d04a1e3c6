import type { Keys } from '../../../security/keyring.js';
import type { Storage } from '../../../storage/storage.js';

/**
 * Parts that a caller provides instead of the settings. A provided storage is closed with the
 * service, or when the start fails.
 */
export interface StartOverrides {
  readonly storage?: Storage;
  readonly keys?: Keys;
  /** The directory of a pod's service account. */
  readonly serviceAccount?: string;
  /** How often series of decisions are written, in milliseconds. */
  readonly decisionIntervalMs?: number;
  /** Whether what would delay later requests is prepared after the start; by default it is. */
  readonly warmsUp?: boolean;
}
