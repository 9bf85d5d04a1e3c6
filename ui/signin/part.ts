import { useEffect, useState } from 'preact/hooks';
import { Late } from '../base/late.js';

/** Code, link, errors and ends: fetched while the address is typed. */
export const proving = new Late(() => import('./proving.js'));

/** Setup and consent: fetched after that. */
export const agreeing = new Late(() => import('./agreeing.js'));

/** A part where it is wanted, once it is here; `missing` when it could not be fetched. */
export function usePart<T>(part: Late<T> | undefined): { here: T | undefined; missing: boolean } {
  const [missing, setMissing] = useState(false);
  const [, render] = useState(part?.here);
  useEffect(() => { part?.get().then(render, () => setMissing(true)); }, [part]);
  return { here: part?.here, missing };
}
