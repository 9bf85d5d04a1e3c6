import {
  ask,
  create,
  stop,
  Unusable,
  type CreationOptions,
  type RequestOptions,
} from '../base/webauthn.js';
import type { SignInStore } from './sign-in-store.js';

export { default as messages } from '../messages/passkey.json';

/**
 * How long a challenge is offered to autofill before a fresh one takes its place, in milliseconds;
 * the API keeps it for five minutes.
 */
const rearm = 240_000;

/**
 * Less than this, in milliseconds, is no answer of a person: the browser would answer so again at
 * once.
 */
const tooSoon = 1_000;

/** What is offered to autofill, if anything is. */
let armed: AbortController | undefined;

/** How often it was taken back. */
let withdrawn = 0;

/** Takes the offer back, so that another call of the browser can be made. */
export function disarm(): void {
  withdrawn += 1;
  armed?.abort();
  armed = undefined;
  stop();
}

type Proof = NonNullable<Awaited<ReturnType<typeof ask>>>;

async function prove(store: SignInStore, credential: Proof): Promise<void> {
  store.crossDevice =
    credential.authenticatorAttachment === 'cross-platform' &&
    (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());
  await store.act('login', { spec: { method: 'Passkey', credential } });
}

/** Offers a fresh challenge once; true when it may be done again at once. */
async function offer(store: SignInStore, { signal }: AbortController): Promise<boolean> {
  const options = await store.challenge<RequestOptions>('Authenticate', true);
  if (!options || signal.aborted) return false;
  const since = performance.now();
  const timer = setTimeout(stop, rearm);
  const credential = await ask(options, true)
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
  if (credential) await prove(store, credential);
  return Boolean(credential) || performance.now() - since > tooSoon;
}

/**
 * Offers passkeys among what the browser fills in, until `disarm`: again every four minutes, after
 * each failure, and when the person comes back.
 */
export async function arm(store: SignInStore): Promise<void> {
  const before = withdrawn;
  if (
    !(await PublicKeyCredential.isConditionalMediationAvailable?.()) ||
    armed ||
    withdrawn !== before
  )
    return;
  const own = (armed = new AbortController());
  while (!own.signal.aborted) {
    if (!(await offer(store, own)) && !own.signal.aborted) await store.returning(own.signal);
    if (store.ending || store.blocked || store.interaction?.status.phase !== 'LoginRequired')
      return;
  }
}

/** Does what may meet a browser that cannot, and tells so; undefined where nothing came of it. */
async function attempt<T>(
  store: SignInStore,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Unusable)) throw thrown;
    store.tell(thrown.id);
    return undefined;
  }
}

/**
 * Asks for a passkey in the browser's own window and signs in with it; who changes their mind is
 * told nothing.
 */
export async function enter(store: SignInStore): Promise<void> {
  disarm();
  store.problem = undefined;
  const options = await store.challenge<RequestOptions>('Authenticate');
  const credential = options && (await attempt(store, () => ask(options)));
  if (credential) await prove(store, credential);
  else store.changed();
}

/** Makes a passkey for the account that is being set up; true once it is there. */
export async function add(store: SignInStore): Promise<boolean> {
  store.problem = undefined;
  const options = await store.challenge<CreationOptions>('Register');
  const credential = options && (await attempt(store, () => create(options)));
  store.changed();
  return Boolean(credential) && store.addPasskey(credential!);
}
