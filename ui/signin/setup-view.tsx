import { useState } from 'preact/hooks';
import { announce } from '../base/live-region.js';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { Latin, t, format } from '../base/message.js';
import { View } from '../base/view.js';
import type { SignInStore } from './sign-in-store.js';
import { passkeys } from './lazy-passkeys.js';
import { passkeyDue, setupOffered } from './setup-reminder.js';

/** Setup is not asked for again soon, whichever way it was left. */
function goOn(store: SignInStore): void {
  setupOffered();
  store.leave();
}

const Skip = ({ store }: { store: SignInStore }) => (
  <Button press={() => goOn(store)}>{t('setup.skip')}</Button>
);

function NameForm({ store }: { store: SignInStore }) {
  const [name, setName] = useState(store.interaction!.status.account?.displayName ?? '');
  const [empty, setEmpty] = useState(false);
  const problem =
    store.problem?.action === 'account' && store.problem.quiet ? store.problem : undefined;
  const error = empty ? t('setup.empty') : problem?.words;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!name.trim());
    if (!name.trim()) return;
    setupOffered();
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
        <Button look="main" submit busy={store.busy === 'account'} progress="setup.saving">
          {t('setup.go')}
        </Button>
        <Skip store={store} />
      </div>
    </form>
  );
}

/** The offer of a passkey, with the reason for it. */
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
    const part = await passkeys.get().catch(() => undefined);
    if (!part) store.tell('offline');
    const done = await part?.add(store);
    setBusy(false);
    if (done) added();
  };
  return (
    <>
      <p>{t(store.crossDevice ? 'setup.passkey.here' : 'setup.passkey.why')}</p>
      <div class="pair">
        <Button
          look={main ? 'main' : undefined}
          busy={busy}
          progress="email.asking"
          press={() => void press()}
        >
          {t('setup.passkey.add')}
        </Button>
        {main && <Skip store={store} />}
      </div>
    </>
  );
}

/** What is still missing on the account, and a way past it. */
export function SetupView({ store }: { store: SignInStore }) {
  const { phase, account } = store.interaction!.status;
  const [has, setHas] = useState(false);
  const naming = Boolean(account?.setup.missing.includes('displayName'));
  const passkey = !has && passkeyDue(account, store.crossDevice);
  const added = (): void => {
    if (!naming) {
      goOn(store);
      return;
    }
    announce(t('setup.passkey.added'));
    setHas(true);
    requestAnimationFrame(() => document.getElementById('displayName')?.focus());
  };
  return (
    <View title="setup.title" phase={phase} error={Boolean(store.problem)}>
      <p class="lead">{format('setup.what', { email: <Latin of={account!.email} strong /> })}</p>
      {has && <p class="notice">{t('setup.passkey.added')}</p>}
      {naming && <NameForm store={store} />}
      {passkey && (
        <div class={naming ? 'or' : ''}>
          <PasskeyOffer store={store} main={!naming} added={added} />
        </div>
      )}
    </View>
  );
}
