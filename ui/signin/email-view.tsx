import { useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { useLazy } from '../base/lazy.js';
import { t, format } from '../base/message.js';
import { View } from '../base/view.js';
import { nameOf } from '../base/local-text.js';
import type { SignInStore } from './sign-in-store.js';
import { ClientHeader } from './client-header.js';
import { stepUpChunk } from './lazy-views.js';
import { offersPasskey, PasskeyButton } from './passkey-button.js';

function EmailForm({ store }: { store: SignInStore }) {
  const { spec, status } = store.interaction!;
  const [email, setEmail] = useState(status.emailChallenge?.email ?? spec.loginHint ?? '');
  const [empty, setEmpty] = useState(false);
  const problem = store.problem?.inField ? store.problem : undefined;
  const error = empty ? t('email.empty') : problem?.text;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!email.trim());
    if (email.trim()) void store.act('emailchallenge', { spec: { email: email.trim() } });
  };
  return (
    <form method="post" noValidate onSubmit={submit}>
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

/** The address of a sign-in to the account page by any method, which continues at a step of it. */
const accountSignInURL = (step: 'recover' | 'passkey-add'): string =>
  `/oauth2/auth?${new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/account`,
    prompt: 'login',
    state: step,
  })}`;

/** The way for who cannot use the passkey that is required: to report it lost, or to add a first one. */
function WithoutPasskey({ client }: { client: string }) {
  if (client === 'vestibule-account')
    return (
      <p class="fine">
        <a href={accountSignInURL('recover')}>{t('email.lost')}</a>
      </p>
    );
  return (
    <p class="fine">
      <a href={accountSignInURL('passkey-add')}>{t('email.add')}</a>
    </p>
  );
}

/** The first view: the email address or a passkey, and why only that or a new sign-in will do. */
export function EmailView({ store }: { store: SignInStore }) {
  const { phase, client, methods, stepUp } = store.interaction!.status;
  const byEmail = !methods || methods.includes('EmailCode') || methods.includes('EmailLink');
  const passkey = offersPasskey(store);
  const { loaded } = useLazy(stepUp || !byEmail ? stepUpChunk : undefined);
  const values = { client: nameOf(client) };
  return (
    <View
      title="email.title"
      values={values}
      phase={phase}
      startsInField={byEmail}
      error={Boolean(store.problem)}
      header={<ClientHeader client={client} />}
    >
      {loaded && <p class="lead">{format(`stepup.${stepUp?.reason ?? 'Passkey'}`, values)}</p>}
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
      {!byEmail && loaded && <WithoutPasskey client={client.name} />}
    </View>
  );
}
