import { addMessages } from '../../base/text/i18n.js';
import { Lazy } from '../../base/api/lazy.js';

/** The WebAuthn calls, loaded when they are needed. */
export const passkeysChunk = new Lazy(() =>
  import('./passkeys.js').then((part) => {
    addMessages(part.messages);
    return part;
  }),
);
