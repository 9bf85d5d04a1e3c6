import { teach } from '../base/language.js';
import { Late } from '../base/late.js';

/** Code, errors and ends: fetched while the address is typed. */
export const proving = new Late(() => import('./proving.js'));

/** Setup and consent: fetched after that. */
export const agreeing = new Late(() => import('./agreeing.js'));

/** The decision behind a refusal: fetched when policy refuses. */
export const refusing = new Late(() =>
  import('./refusing.js').then((part) => {
    teach(part.messages);
    return part;
  }),
);
