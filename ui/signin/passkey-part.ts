import { teach } from '../base/language.js';
import { Late } from '../base/late.js';

/** The browser's own calls for passkeys: fetched where they are to be used. */
export const passkeys = new Late(() =>
  import('./passkeys.js').then((part) => {
    teach(part.messages);
    return part;
  }),
);
