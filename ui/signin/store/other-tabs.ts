import type { Account, Interaction } from '../../api.js';

/*
 * Imports only types of ours. A chunk that shares code with the first view would have that code
 * split off, and the first view would load one more file.
 */

/** Who is signed in in this browser. */
interface SignedIn {
  readonly email: string;
  readonly isUnused: boolean;
}

/** What this chunk needs of a sign-in. */
export interface FollowedSignIn {
  readonly interaction: Interaction | undefined;
  /** True while nothing was decided and no action is pending. */
  readonly isWaiting: boolean;
  /** The person chose to sign in here, and is not asked again. */
  readonly stays: boolean;
  /** Reads the Interaction again, which counts as activity of this browser. */
  refresh(): Promise<unknown>;
  /** Offers to go on as the person who signed in in another tab. */
  offer(signedIn: SignedIn): void;
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

type Call = <T>(method: string, path: string) => Promise<T>;

/**
 * Returns who may go on with a session of this browser, if anyone may: no one if the app asked for the
 * choice of an account, and another one was chosen.
 */
async function personOf(interaction: Interaction, call: Call): Promise<SignedIn | undefined> {
  const { spec, status } = interaction;
  if (!status.resumeTo || (spec.prompt === 'SelectAccount' && status.emailChallenge)) {
    return undefined;
  }
  const account = await call<Account>('GET', 'accounts/~').catch(() => undefined);
  if (!account) return undefined;
  const email = account.status.email.address;
  return { email, isUnused: isUnused(interaction, email) };
}

/**
 * Returns whom to ask before the first view is drawn: with `prompt=select_account`, and in a tab that
 * was restored.
 */
export async function firstOffer(
  interaction: Interaction,
  call: Call,
): Promise<SignedIn | undefined> {
  const begun = Date.parse(interaction.metadata.creationTimestamp ?? '');
  const looks = interaction.spec.prompt === 'SelectAccount' || Date.now() - begun > restoredMs;
  return looks ? personOf(interaction, call) : undefined;
}

/**
 * Follows the other tabs of this browser: when the person has signed in in one, or comes back to this
 * one, offers to go on with that session. `call` reads from the API.
 */
export function followOtherTabs(signIn: FollowedSignIn, call: Call): void {
  const channel = new BroadcastChannel('sign-ins');
  const look = async (): Promise<void> => {
    if (!signIn.isWaiting) return;
    await signIn.refresh();
    if (!signIn.isWaiting || signIn.stays) return;
    const person = await personOf(signIn.interaction!, call);
    if (person && signIn.isWaiting) signIn.offer(person);
  };
  signIn.left = () => channel.postMessage('signed in');
  channel.onmessage = () => {
    for (const delay of lookAfterMs) setTimeout(() => void look(), delay);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void look();
  });
}
