/**
 * The steps of this page that a sign-in in between can lead back to, as the fragment of its address
 * has them.
 */
const wellFormed = /^[a-z-]{1,40}(=[a-z0-9.-]{1,200})?$/;

/**
 * Leaves for a sign-in that comes back to this page. `step` is where to go on afterwards: it
 * travels in the request and comes back with the answer, so that nothing has to be stored. `again`
 * asks even where someone is signed in, and
 * `byPasskey` takes nothing but a passkey.
 */
export function signIn({
  step,
  prompt,
  passkeyOnly,
}: {
  step?: string | undefined;
  prompt?: boolean;
  passkeyOnly?: boolean;
} = {}): void {
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/account`,
    ...(step && { state: step }),
    ...(prompt && { prompt: 'login' }),
    ...(passkeyOnly && { vestibule_method: 'Passkey' }),
  });
  location.assign(`/oauth2/auth?${query}`);
}

/**
 * How this page was come to: from a sign-in or not, with which step to go on, and whether it was
 * refused or given up.
 */
export interface Arrival {
  readonly step: string | undefined;
  readonly signedIn: boolean;
  readonly refused: boolean;
}

/** Reads how the page was come to, and clears the address of it; the step becomes the fragment. */
export function readArrival(): Arrival {
  const query = new URLSearchParams(location.search);
  const refused = query.has('error');
  const named = query.get('state') ?? location.hash.slice(1);
  const step = !refused && wellFormed.test(named) ? named : undefined;
  if (['iss', 'state', 'error'].some((one) => query.has(one)))
    history.replaceState(null, '', location.pathname + (step ? `#${step}` : ''));
  return { step, signedIn: query.has('iss') && !refused, refused };
}

/** Leaves no step behind in the address once it was taken or given up. */
export function clearStep(): void {
  if (location.hash) history.replaceState(null, '', location.pathname);
}
