import { teach } from '../base/i18n.js';
import { Late } from '../base/lazy.js';

/** The browser's own calls for passkeys: fetched where they are to be used. */
export const passkeys = new Late(() =>
  import('./passkeys.js').then((part) => {
    teach(part.messages);
    return part;
  }),
);
