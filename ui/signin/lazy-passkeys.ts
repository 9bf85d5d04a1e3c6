import { addMessages } from '../base/i18n.js';
import { Lazy } from '../base/lazy.js';

/** The browser's own calls for passkeys: fetched where they are to be used. */
export const passkeysChunk = new Lazy(() =>
  import('./passkeys.js').then((part) => {
    addMessages(part.messages);
    return part;
  }),
);
