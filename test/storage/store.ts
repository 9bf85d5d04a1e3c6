import type { Storage } from '../../storage/storage.js';

/** How the suite comes by a store of one driver. */
export interface Store {
  /** The store as it is now open. */
  readonly storage: Storage;
  /**
   * Takes the store away from under its users and brings it back: etcd is killed and restarted, an
   * embedded one closed and reopened.
   */
  disturb(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an empty store; `sweeping`: expired entries are collected within seconds instead of an
 * hour.
 */
export type OpenStore = (options?: { sweeping?: boolean }) => Promise<Store>;
