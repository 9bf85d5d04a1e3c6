import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { canUsePasskeys } from '../../base/passkeys/passkeys.js';
import { t } from '../../base/text/message.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { passkeysChunk } from '../store/lazy-passkeys.js';

/** Returns whether policy and browser allow signing in with a passkey here. */
export const offersPasskey = (store: SignInStore): boolean =>
  canUsePasskeys() && Boolean(store.interaction?.status.methods?.includes('Passkey'));

/**
 * Signs in with a passkey, requested by this button or, with `autofill`, chosen from the browser's
 * suggestions.
 */
export function PasskeyButton({
  store,
  main,
  autofill,
}: {
  store: SignInStore;
  main?: boolean;
  autofill?: boolean;
}) {
  const [busy, setBusy] = useState(false);
  const shown = useRef(true);
  const offer = (): void => {
    if (autofill) {
      void passkeysChunk.load().then(
        ({ startAutofill }) => {
          if (shown.current) void startAutofill(store);
        },
        () => undefined,
      );
    }
  };
  useEffect(() => {
    shown.current = true;
    (globalThis.requestIdleCallback ?? setTimeout)(() => {
      if (shown.current) offer();
    }); // must not compete with the first view
    return () => {
      shown.current = false;
      passkeysChunk.loaded?.stopAutofill();
    };
  }, []);
  const press = async (): Promise<void> => {
    setBusy(true);
    const part = await passkeysChunk.load().catch(() => undefined);
    if (part) {
      await part.signIn(store);
    } else {
      store.report('offline');
    }
    setBusy(false);
    if (!store.ending && store.interaction?.status.phase === 'LoginRequired') offer();
  };
  return (
    <Button
      variant={main ? 'main' : undefined}
      busy={busy}
      progress="email.asking"
      onPress={() => void press()}
    >
      {t('email.passkey')}
    </Button>
  );
}
