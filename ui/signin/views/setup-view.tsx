import { useState } from 'preact/hooks';
import { announce } from '../../base/live-region.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { passkeysChunk } from '../store/lazy-passkeys.js';
import { shouldOfferPasskey, recordSetupOffer } from '../store/setup-reminder.js';

/** Leaves setup. It is not offered again soon, for every choice of the person. */
function leaveSetup(store: SignInStore): void {
  recordSetupOffer();
  store.leave();
}

const Skip = ({ store }: { store: SignInStore }) => (
  <Button onPress={() => leaveSetup(store)}>{t('setup.skip')}</Button>
);

function NameForm({ store }: { store: SignInStore }) {
  const [name, setName] = useState(store.interaction!.status.account?.displayName ?? '');
  const [empty, setEmpty] = useState(false);
  const problem =
    store.problem?.action === 'account' && store.problem.inField ? store.problem : undefined;
  const error = empty ? t('setup.empty') : problem?.text;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!name.trim());
    if (!name.trim()) return;
    recordSetupOffer();
    void store.save({ displayName: name.trim() });
  };
  return (
    <form method="post" noValidate onSubmit={submit}>
      <Field
        id="displayName"
        name="name"
        label={t('setup.name')}
        autoComplete="name"
        dir="auto"
        hint={t('setup.hint')}
        value={name}
        error={error}
        onText={setName}
      />
      <div class="pair">
        <Button variant="main" submit busy={store.busy === 'account'} progress="setup.saving">
          {t('setup.go')}
        </Button>
        <Skip store={store} />
      </div>
    </form>
  );
}

/** Offers a passkey and says why. */
function PasskeyOffer({
  store,
  main,
  added,
}: {
  store: SignInStore;
  main: boolean;
  added: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    const part = await passkeysChunk.load().catch(() => undefined);
    if (!part) store.report('offline');
    const done = await part?.register(store);
    setBusy(false);
    if (done) added();
  };
  return (
    <>
      <p>{t(store.usedOtherDevice ? 'setup.passkey.here' : 'setup.passkey.why')}</p>
      <div class="pair">
        <Button
          variant={main ? 'main' : undefined}
          busy={busy}
          progress="email.asking"
          onPress={() => void press()}
        >
          {t('setup.passkey.add')}
        </Button>
        {main && <Skip store={store} />}
      </div>
    </>
  );
}

/** Asks for what the account lacks. Every step can be skipped. */
export function SetupView({ store }: { store: SignInStore }) {
  const { phase, account } = store.interaction!.status;
  const [hasAdded, setHas] = useState(false);
  const asksName = Boolean(account?.setup.missing.includes('displayName'));
  const passkey = !hasAdded && shouldOfferPasskey(account, store.usedOtherDevice);
  const added = (): void => {
    if (!asksName) {
      leaveSetup(store);
      return;
    }
    announce(t('setup.passkey.added'));
    setHas(true);
    requestAnimationFrame(() => document.getElementById('displayName')?.focus());
  };
  return (
    <View title="setup.title" phase={phase} error={Boolean(store.problem)}>
      <p class="lead">{format('setup.what', { email: <Ltr of={account!.email} strong /> })}</p>
      {hasAdded && <p class="notice">{t('setup.passkey.added')}</p>}
      {asksName && <NameForm store={store} />}
      {passkey && (
        <div class={asksName ? 'or' : ''}>
          <PasskeyOffer store={store} main={!asksName} added={added} />
        </div>
      )}
    </View>
  );
}
