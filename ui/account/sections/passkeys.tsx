import { useState } from 'preact/hooks';
import type { Passkey, PasskeyChallenge, Recovery } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call, ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { useCollection, type LiveCollection } from '../../base/api/collection.js';
import { Lazy } from '../../base/api/lazy.js';
import { t } from '../../base/text/message.js';
import { canUsePasskeys, isIPAddress } from '../../base/passkeys/passkeys.js';
import { ActionError, useAction } from '../base/use-action.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';
import { SectionList, Section } from '../base/section.js';
import { PasskeyRow } from './passkey-row.js';
import { LostPasskeys } from './recovery.js';
import { signalPasskeys } from '../base/signal.js';
import { clearStep } from '../base/redirects.js';

const step = 'passkey-add';
const webauthnChunk = new Lazy(() => import('../../base/passkeys/webauthn.js'));

const loadWebAuthn = () =>
  webauthnChunk.load().catch((): never => {
    throw new ApiError(0);
  });

const newestFirst = (passkeys: readonly Passkey[]): Passkey[] =>
  [...passkeys].sort((a, b) =>
    b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp),
  );

/**
 * Registers a passkey. Returns undefined if the person cancelled. Throws an ApiError, or a
 * PasskeyError from the browser.
 */
async function register(): Promise<Passkey | undefined> {
  const { createPasskey } = await loadWebAuthn();
  const {
    status: { options },
  } = await call<PasskeyChallenge<Parameters<typeof createPasskey>[0]>>(
    'POST',
    'accounts/~/passkeychallenge',
    { spec: { purpose: 'Register' } },
  );
  const credential = await createPasskey(options);
  return credential && call<Passkey>('POST', 'passkeys', { spec: { credential } });
}

const explainError = ({ code }: ApiError): string | undefined =>
  ({ 422: t('passkey.unaccepted'), 409: t('passkey.many') })[code];

/** The button for another passkey, or why this browser cannot add one. */
function AddPasskey({ busy, press }: { busy: boolean; press: () => void }) {
  if (!canUsePasskeys()) {
    return <p class="hint">{t(isIPAddress() ? 'passkeys.numbered' : 'passkeys.unsupported')}</p>;
  }
  return (
    <Button id={step} busy={busy} progress="passkey.adding" onPress={press}>
      {t('passkey.add')}
    </Button>
  );
}

/** The passkeys of the account: where each is stored, its name, and how to add and remove them. */
export function Passkeys({ recoveries }: { recoveries: LiveCollection<Recovery> }) {
  const { account, isLive, step: resumed } = useAccountContext();
  const passkeys = useCollection<Passkey>('passkeys', ownedBy(account), isLive);
  const [added, setAdded] = useState<string>();
  const [browserError, setBrowserError] = useState<string>();
  const { busy, failure, run } = useAction(explainError);
  const add = (): void => {
    setBrowserError(undefined);
    void run(async () => {
      const { PasskeyError } = await loadWebAuthn();
      try {
        const passkey = await register();
        if (!passkey) return;
        passkeys.upsert(passkey);
        setAdded(passkey.metadata.name);
        announce(t('passkeys.new'));
        void signalPasskeys();
      } catch (thrown) {
        if (!(thrown instanceof PasskeyError)) throw thrown;
        setBrowserError(t(thrown.id));
        announce(t(thrown.id));
      }
    }, step).then(clearStep);
  };
  const last = passkeys.items?.length === 1;
  return (
    <Section id="passkeys" hint="passkeys.hint">
      <SectionList
        collection={passkeys}
        list="passkeys.list"
        none="passkeys.none"
        look="things"
        order={newestFirst}
        row={(passkey) => (
          <PasskeyRow
            key={passkey.metadata.name}
            passkey={passkey}
            last={last}
            isNew={passkey.metadata.name === added}
            passkeys={passkeys}
          />
        )}
      />
      {resumed === step && !added && <p class="notice">{t('account.resumed')}</p>}
      {browserError && <p class="notice bad">{browserError}</p>}
      <ActionError failure={failure} text={failure && explainError(failure)} />
      <AddPasskey busy={busy} press={add} />
      {passkeys.items && passkeys.items.length > 0 && (
        <div class="last">
          <LostPasskeys recoveries={recoveries} resumed={resumed} />
        </div>
      )}
    </Section>
  );
}
