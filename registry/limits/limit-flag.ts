import type { LimitName } from './limit-settings.js';

/** What the flag of each limit begins with. */
export const limitPrefix = 'limits-';

/** Returns the flag of a limit. */
export const limitFlag = (name: LimitName): string =>
  limitPrefix + name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
