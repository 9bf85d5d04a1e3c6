/** The form of a step in the fragment: a sign-in can lead back to it. */
const wellFormed = /^[a-z-]{1,40}(=[a-z0-9.-]{1,200})?$/;

/**
 * How this page was reached: after a sign-in or not, the step to continue with, and whether the
 * sign-in was refused or cancelled.
 */
export interface Arrival {
  readonly step: string | undefined;
  readonly signedIn: boolean;
  readonly refused: boolean;
}

/**
 * Reads how the page was reached and removes that from the address. The step becomes the fragment.
 */
export function readArrival(): Arrival {
  const query = new URLSearchParams(location.search);
  const refused = query.has('error');
  const named = query.get('state') ?? location.hash.slice(1);
  const step = !refused && wellFormed.test(named) ? named : undefined;
  if (['iss', 'state', 'error'].some((parameter) => query.has(parameter))) {
    history.replaceState(null, '', location.pathname + (step ? `#${step}` : ''));
  }
  return { step, signedIn: query.has('iss') && !refused, refused };
}

/** Removes the step from the address after it was taken or given up. */
export function clearStep(): void {
  if (location.hash) history.replaceState(null, '', location.pathname);
}
