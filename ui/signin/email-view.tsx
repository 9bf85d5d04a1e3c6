import { useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { useLazy } from '../base/api/lazy.js';
import { t, format } from '../base/text/message.js';
import { View } from '../base/view.js';
import { useAppearance } from '../base/api/appearance.js';
import { isAccountPage, nameOf } from '../base/text/local-text.js';
import type { SignInStore } from './store/sign-in-store.js';
import { ClientHeader } from './views/client-header.js';
import { proofChunk, stepUpChunk } from './lazy-views.js';
import { offersPasskey, PasskeyButton } from './views/passkey-button.js';

function EmailForm({ store }: { store: SignInStore }) {
  const { spec, status } = store.interaction!;
  const [email, setEmail] = useState(status.emailChallenge?.email ?? spec.loginHint ?? '');
  const [empty, setEmpty] = useState(false);
  const problem = store.problem?.inField ? store.problem : undefined;
  const error = empty ? t('email.empty') : problem?.text;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const plain = { email: email.trim() };
    setEmpty(!plain.email);
    if (!plain.email) return;
    const part = await proofChunk.load().catch(() => undefined);
    const read = part ? part.readAddress(email) : plain;
    if ('fault' in read) {
      store.report(read.fault, 'emailchallenge');
    } else {
      void store.act('emailchallenge', { spec: read });
    }
  };
  return (
    <form method="post" noValidate onSubmit={(event) => void submit(event)}>
      <Field
        id="email"
        name="username"
        label={t('email.label')}
        type="email"
        autoComplete="username webauthn"
        inputMode="email"
        autoCapitalize="none"
        spellcheck={false}
        dir="ltr"
        value={email}
        error={error}
        onText={setEmail}
      />
      <Button variant="main" submit busy={store.busy === 'emailchallenge'} progress="email.sending">
        {t('email.go')}
      </Button>
      <p class="fine">{t('email.note')}</p>
    </form>
  );
}

/** The first view: the email address or a passkey, and why only that or a new sign-in will do. */
export function EmailView({ store }: { store: SignInStore }) {
  const { phase, client, methods, stepUp } = store.interaction!.status;
  const byEmail = !methods || methods.includes('EmailCode') || methods.includes('EmailLink');
  const passkey = offersPasskey(store);
  const { loaded } = useLazy(stepUp || !byEmail ? stepUpChunk : undefined);
  const { displayName } = useAppearance();
  const isOwn = isAccountPage(client);
  const otherWay = byEmail ? undefined : loaded?.withoutPasskey(isOwn);
  const values = { client: nameOf(client), name: displayName ?? '' };
  const ownTitle = displayName ? 'email.named' : 'email.own';
  return (
    <View
      title={isOwn ? ownTitle : 'email.title'}
      values={values}
      phase={phase}
      startsInField={byEmail}
      error={Boolean(store.problem)}
      header={<ClientHeader client={client} />}
    >
      {loaded && <p class="lead">{format(loaded.reasonMessage(isOwn, stepUp?.reason), values)}</p>}
      {byEmail ? (
        <EmailForm store={store} />
      ) : (
        loaded && !passkey && <p class="lead">{t('email.none')}</p>
      )}
      {passkey && (
        <div class={byEmail ? 'or' : ''}>
          <PasskeyButton store={store} main={!byEmail} autofill={byEmail} />
        </div>
      )}
      {otherWay && (
        <p class="fine">
          <a href={otherWay.href}>{t(otherWay.id)}</a>
        </p>
      )}
    </View>
  );
}
