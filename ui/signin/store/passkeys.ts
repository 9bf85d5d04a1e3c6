import {
  requestPasskey,
  createPasskey,
  cancelRequest,
  PasskeyError,
  type CreationOptions,
  type RequestOptions,
} from '../../base/passkeys/webauthn.js';
import type { SignInStore } from './sign-in-store.js';

export { default as messages } from '../../messages/en/passkey.json';

/**
 * Milliseconds for which a challenge is offered to autofill before a new one replaces it. The API
 * keeps a challenge for five minutes.
 */
const offerMs = 240_000;

/** A result in fewer milliseconds is not from a person: the browser would fail again at once. */
const minAnswerMs = 1_000;

/** Aborts the current autofill request. */
let currentOffer: AbortController | undefined;

/** How often autofill was stopped. */
let stopCount = 0;

/** Stops the autofill request, so that another WebAuthn call can start. */
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

/** Offers a new challenge to autofill once. Returns true if the next one may follow at once. */
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
 * Offers passkeys among the browser's suggestions until `stopAutofill`: with a new challenge every
 * four minutes, after each failure and when the person returns.
 */
export async function startAutofill(store: SignInStore): Promise<void> {
  const stopCountBefore = stopCount;
  if (
    !(await PublicKeyCredential.isConditionalMediationAvailable?.()) ||
    currentOffer ||
    stopCount !== stopCountBefore
  ) {
    return;
  }
  const controller = (currentOffer = new AbortController());
  while (!controller.signal.aborted) {
    if (!(await offer(store, controller)) && !controller.signal.aborted) {
      await store.untilReturn(controller.signal);
    }
    if (store.ending || store.blocked || store.interaction?.status.phase !== 'LoginRequired') {
      return;
    }
  }
}

/** Runs a WebAuthn call and reports its error. Returns undefined on an error or a cancellation. */
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
 * Requests a passkey in the browser's own dialog and signs in with it. Reports nothing on a
 * cancellation.
 */
export async function signIn(store: SignInStore): Promise<void> {
  stopAutofill();
  store.problem = undefined;
  const options = await store.challenge<RequestOptions>('Authenticate');
  const credential = options && (await showPasskeyErrors(store, () => requestPasskey(options)));
  if (credential) {
    await signInWithCredential(store, credential);
  } else {
    store.changed();
  }
}

/** Creates a passkey for the account that is being set up. Returns true if it was added. */
export async function register(store: SignInStore): Promise<boolean> {
  store.problem = undefined;
  const options = await store.challenge<CreationOptions>('Register');
  const credential = options && (await showPasskeyErrors(store, () => createPasskey(options)));
  store.changed();
  return Boolean(credential) && store.addPasskey(credential!);
}
