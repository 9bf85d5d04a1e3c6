import {
  requestPasskey,
  createPasskey,
  cancelRequest,
  PasskeyError,
  type CreationOptions,
  type RequestOptions,
} from '../base/webauthn.js';
import type { SignInStore } from './sign-in-store.js';

export { default as messages } from '../messages/passkey.json';

/**
 * How long a challenge is offered to autofill before a fresh one takes its place, in milliseconds;
 * the API keeps it for five minutes.
 */
const offerMs = 240_000;

/**
 * Less than this, in milliseconds, is no answer of a person: the browser would answer so again at
 * once.
 */
const minAnswerMs = 1_000;

/** What is offered to autofill, if anything is. */
let currentOffer: AbortController | undefined;

/** How often it was taken back. */
let stopCount = 0;

/** Takes the offer back, so that another call of the browser can be made. */
export function stopAutofill(): void {
  stopCount += 1;
  currentOffer?.abort();
  currentOffer = undefined;
  cancelRequest();
}

type Assertion = NonNullable<Awaited<ReturnType<typeof requestPasskey>>>;

async function signInWithCredential(store: SignInStore, credential: Assertion): Promise<void> {
  store.usedOtherDevice =
    credential.authenticatorAttachment === 'cross-platform' &&
    (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());
  await store.act('login', { spec: { method: 'Passkey', credential } });
}

/** Offers a fresh challenge once; true when it may be done again at once. */
async function offer(store: SignInStore, { signal }: AbortController): Promise<boolean> {
  const options = await store.challenge<RequestOptions>('Authenticate', true);
  if (!options || signal.aborted) return false;
  const since = performance.now();
  const timer = setTimeout(cancelRequest, offerMs);
  const credential = await requestPasskey(options, true)
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
  if (credential) await signInWithCredential(store, credential);
  return Boolean(credential) || performance.now() - since > minAnswerMs;
}

/**
 * Offers passkeys among what the browser fills in, until `disarm`: again every four minutes, after
 * each failure, and when the person comes back.
 */
export async function startAutofill(store: SignInStore): Promise<void> {
  const stopCountBefore = stopCount;
  if (
    !(await PublicKeyCredential.isConditionalMediationAvailable?.()) ||
    currentOffer ||
    stopCount !== stopCountBefore
  )
    return;
  const controller = (currentOffer = new AbortController());
  while (!controller.signal.aborted) {
    if (!(await offer(store, controller)) && !controller.signal.aborted)
      await store.untilReturn(controller.signal);
    if (store.ending || store.blocked || store.interaction?.status.phase !== 'LoginRequired')
      return;
  }
}

/** Does what may meet a browser that cannot, and tells so; undefined where nothing came of it. */
async function showPasskeyErrors<T>(
  store: SignInStore,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof PasskeyError)) throw thrown;
    store.report(thrown.id);
    return undefined;
  }
}

/**
 * Asks for a passkey in the browser's own window and signs in with it; who changes their mind is
 * told nothing.
 */
export async function signIn(store: SignInStore): Promise<void> {
  stopAutofill();
  store.problem = undefined;
  const options = await store.challenge<RequestOptions>('Authenticate');
  const credential = options && (await showPasskeyErrors(store, () => requestPasskey(options)));
  if (credential) await signInWithCredential(store, credential);
  else store.changed();
}

/** Makes a passkey for the account that is being set up; true once it is there. */
export async function register(store: SignInStore): Promise<boolean> {
  store.problem = undefined;
  const options = await store.challenge<CreationOptions>('Register');
  const credential = options && (await showPasskeyErrors(store, () => createPasskey(options)));
  store.changed();
  return Boolean(credential) && store.addPasskey(credential!);
}
