import { render } from 'preact';
import { loadAppearance } from '../base/api/appearance.js';
import { call } from '../base/api/api.js';
import { mountPoint } from '../base/page.js';
import { SignInStore } from './store/sign-in-store.js';
import { consentChunk, endsChunk, otherTabsChunk, proofChunk } from './lazy-views.js';
import { SignIn } from './sign-in.js';

/**
 * Milliseconds for which the shell's skeleton waits for the first responses before the page is
 * drawn.
 */
const skeletonMs = 150;

/** Milliseconds without input after which later chunks are prefetched. */
const idleMs = 2_000;

let isPrefetched = false;

const idle = (work: () => void): void => {
  (globalThis.requestIdleCallback ?? setTimeout)(work);
};

const prefetch = (store: SignInStore): void => {
  if (isPrefetched) return;
  isPrefetched = true;
  proofChunk
    .load()
    .then(() => consentChunk.load())
    .then(() => endsChunk.load())
    .then(() => otherTabsChunk.load())
    .then(({ followOtherTabs }) => followOtherTabs(store, call))
    .catch(() => undefined);
};

/**
 * Prefetches later chunks at the first input, or after a while without any, so that they never
 * compete with the first view.
 */
function prefetchLater(store: SignInStore): void {
  const load = (): void => prefetch(store);
  for (const sign of ['keydown', 'pointerdown', 'input']) {
    addEventListener(sign, load, { once: true });
  }
  setTimeout(() => idle(load), idleMs);
}

/**
 * Opens the page of one sign-in: requests the interaction and the appearance at once and draws
 * once, with both.
 */
export async function openSignIn(name: string, token: string | undefined): Promise<void> {
  const store = new SignInStore(name, token);
  if (token) prefetch(store);
  store.prepare = async (next) => {
    if (next.status.resumeTo) {
      await otherTabsChunk
        .load()
        .then(async ({ firstOffer }) => (store.signedIn = await firstOffer(next, call)))
        .catch(() => undefined);
    }
  };
  const skeletonTimeout = new Promise((done) => {
    setTimeout(done, skeletonMs);
  });
  await Promise.race([Promise.all([store.start(), loadAppearance()]), skeletonTimeout]);
  render(<SignIn store={store} />, mountPoint());
  prefetchLater(store);
}
