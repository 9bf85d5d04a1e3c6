import type { Account, Interaction } from '../api.js';

/*
 * Imports only types of ours. A chunk that shares code with the first view would have that code
 * split off, and the first view would load one more file.
 */

/** What this chunk needs of a sign-in. */
export interface FollowedSignIn {
  readonly interaction: Interaction | undefined;
  /** True while nothing was decided and no action is pending. */
  readonly isWaiting: boolean;
  /** Reads the Interaction again, which counts as activity of this browser. */
  refresh(): Promise<unknown>;
  /** Offers to go on as the person who signed in in another tab. */
  offer(signedIn: { email: string; isUnused: boolean }): void;
  /** Called when the person has signed in in this tab. */
  left: () => void;
}

/** Milliseconds after another tab has left, at which its session is looked for. */
const lookAfterMs = [500, 2_000, 6_000];

/** Age in milliseconds from which a page that opens looks at once: its tab was restored. */
const restoredMs = 30_000;

/** Returns whether the person has not typed anything here, and was not asked to choose. */
const isUnused = ({ spec, status }: Interaction, email: string): boolean =>
  spec.prompt !== 'SelectAccount' &&
  !status.emailChallenge &&
  (!spec.loginHint || spec.loginHint.toLowerCase() === email.toLowerCase()) &&
  [...document.querySelectorAll('input')].every(({ value }) => !value || value === spec.loginHint);

/**
 * Follows the other tabs of this browser: when the person has signed in in one, or comes back to this
 * one, offers to go on with that session. `call` reads from the API.
 */
export function followOtherTabs(
  signIn: FollowedSignIn,
  call: <T>(method: string, path: string) => Promise<T>,
): void {
  const channel = new BroadcastChannel('sign-ins');
  const look = async (): Promise<void> => {
    if (!signIn.isWaiting) return;
    await signIn.refresh();
    if (!signIn.isWaiting || !signIn.interaction?.status.resumeTo) return;
    const account = await call<Account>('GET', 'accounts/~').catch(() => undefined);
    if (!account || !signIn.isWaiting) return;
    const email = account.status.email.address;
    signIn.offer({ email, isUnused: isUnused(signIn.interaction, email) });
  };
  signIn.left = () => channel.postMessage('signed in');
  channel.onmessage = () => {
    for (const delay of lookAfterMs) setTimeout(() => void look(), delay);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void look();
  });
  const { metadata, spec } = signIn.interaction ?? {};
  const begun = Date.parse(metadata?.creationTimestamp ?? '');
  if (spec?.prompt === 'SelectAccount' || Date.now() - begun > restoredMs) void look();
}
