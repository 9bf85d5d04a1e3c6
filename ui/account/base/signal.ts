import type { PasskeyChallenge } from '../../api.js';
import { call } from '../../base/api/api.js';

interface Options {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly excludeCredentials: readonly { readonly id: string }[];
}

/**
 * Reports to password managers which passkeys exist and whose they are, so that they remove deleted
 * ones. The data is in the options of a registration. If the API refuses those now, a later call
 * succeeds.
 */
export async function signalPasskeys(): Promise<void> {
  const browser = globalThis.PublicKeyCredential;
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
    /* optional: nothing depends on it */
  }
}
