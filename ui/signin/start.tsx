import { render } from 'preact';
import { mountPoint } from '../base/page.js';
import { SignInStore } from './sign-in-store.js';
import { consentChunk, proofChunk } from './lazy-views.js';
import { SignIn } from './sign-in.js';

/**
 * How long the shell's skeleton stands for the first answer, in milliseconds, before the page is
 * drawn without it.
 */
const skeletonMs = 150;

/** How long the page may rest before what comes later is fetched unasked, in milliseconds. */
const idleMs = 2_000;

const idle = (work: () => void): void => {
  (globalThis.requestIdleCallback ?? setTimeout)(work);
};

const prefetch = (): void => {
  proofChunk
    .load()
    .then(() => consentChunk.load())
    .catch(() => undefined);
};

/**
 * Fetches the later parts at the first sign of a person, or when nothing happened for a while:
 * never beside the first view.
 */
function prefetchLater(): void {
  for (const sign of ['keydown', 'pointerdown', 'input'])
    addEventListener(sign, prefetch, { once: true });
  setTimeout(() => idle(prefetch), idleMs);
}

/**
 * Opens the page of one sign-in: asks for the interaction at once, and draws once, with the answer.
 */
export async function openSignIn(name: string, token: string | undefined): Promise<void> {
  const store = new SignInStore(name, token);
  if (token) prefetch();
  const skeletonTimeout = new Promise((done) => {
    setTimeout(done, skeletonMs);
  });
  await Promise.race([store.start(), skeletonTimeout]);
  render(<SignIn store={store} />, mountPoint());
  prefetchLater();
}
