import type { PasskeyChallenge } from '../api.js';
import { call } from '../base/api.js';

interface Options {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly excludeCredentials: readonly { readonly id: string }[];
}

/** What WebAuthn 3 adds to the browser, where it is there. */
interface Signals {
  signalAllAcceptedCredentials?: (options: {
    rpId: string;
    userId: string;
    allAcceptedCredentialIds: string[];
  }) => Promise<void>;
  signalCurrentUserDetails?: (told: {
    rpId: string;
    userId: string;
    name: string;
    displayName: string;
  }) => Promise<void>;
}

/**
 * Tells password managers which passkeys there are and whose they are, so that they forget what was
 * deleted here. All of that is in what a registration would be asked with; where that is refused
 * now, it is told another time.
 */
export async function signalPasskeys(): Promise<void> {
  const browser = globalThis.PublicKeyCredential as unknown as Signals | undefined;
  if (!browser?.signalAllAcceptedCredentials) return;
  try {
    const {
      status: {
        options: { rp, user, excludeCredentials },
      },
    } = await call<PasskeyChallenge<Options>>('POST', 'accounts/~/passkeychallenge', {
      spec: { purpose: 'Register' },
    });
    await browser.signalAllAcceptedCredentials({
      rpId: rp.id,
      userId: user.id,
      allAcceptedCredentialIds: excludeCredentials.map(({ id }) => id),
    });
    await browser.signalCurrentUserDetails?.({
      rpId: rp.id,
      userId: user.id,
      name: user.name,
      displayName: user.displayName,
    });
  } catch {
    /* it is a courtesy: nothing depends on it */
  }
}
