import { loadWebauthn } from '../../../kinds/people/passkey/webauthn/library.js';
import type { Log } from '../../../observability/log.js';
import type { Registry } from '../../../registry/store/registry.js';

/** Prepares after the first requests what would delay a later one. */
export const warmUp = (registry: Registry, log: Log): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => {
      registry.compileValidators();
      loadWebauthn().then(
        () => resolve(),
        (error) => {
          log.error({ err: error }, 'passkeys cannot be verified');
          resolve();
        },
      );
    });
  });
