import type { Log } from '../../observability/log.js';
import { Informer } from '../../registry/store/informer.js';
import type { Store } from '../../registry/store/store.js';
import { type RuntimeSettings, withSettings } from './runtime-settings.js';
import { Settings, settingsName } from './settings.js';

/**
 * Brings the object Settings in force: it changes the settings of the store in place, so what reads
 * them at each use has the new value. Follows the watch cache.
 */
export class SettingsIndex {
  /** Called when settings came in force. */
  onChange: (() => void) | undefined;
  #current: RuntimeSettings;
  readonly #informer: Informer<typeof Settings>;

  constructor(store: Store, log: Log) {
    const { settings } = store;
    this.#current = settings.started;
    this.#informer = new Informer(store, Settings, (before, after) => {
      const { metadata } = (after ?? before)!;
      if (metadata.name !== settingsName) return;
      this.#current = withSettings(settings.started, after?.spec ?? {});
      const { limits, emailFrom, nameFallback, policyTimeZone } = this.#current;
      Object.assign(settings.limits, limits);
      Object.assign(settings, { emailFrom, nameFallback, policyTimeZone });
      log.info({ generation: metadata.generation }, 'settings came in force');
      this.onChange?.();
    });
  }

  /** Brings the stored Settings in force and follows them; call it after the watch cache started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    this.#informer.stop();
  }

  /** The settings in force. */
  get current(): RuntimeSettings {
    return this.#current;
  }

  /** Waits up to a second until what this replica committed is in force. */
  waitUntilFresh(): Promise<boolean> {
    return this.#informer.waitUntilFresh();
  }
}
