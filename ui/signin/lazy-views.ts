import { teach } from '../base/i18n.js';
import { Late } from '../base/lazy.js';

/** Code, errors and ends: fetched while the address is typed. */
export const proving = new Late(() => import('./proof-chunk.js'));

/** Setup and consent: fetched after that. */
export const agreeing = new Late(() => import('./consent-chunk.js'));

/** The decision behind a refusal: fetched when policy refuses. */
export const refusing = new Late(() =>
  import('./refusing.js').then((part) => {
    teach(part.messages);
    return part;
  }),
);
