import { useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import type { Flow } from './sign-in-store.js';
import { Head } from './client-header.js';
import { offersPasskey, PasskeyButton } from './passkey-button.js';

function EmailForm({ flow }: { flow: Flow }) {
  const { spec, status } = flow.interaction!;
  const [email, setEmail] = useState(status.emailChallenge?.email ?? spec.loginHint ?? '');
  const [empty, setEmpty] = useState(false);
  const problem = flow.problem?.quiet ? flow.problem : undefined;
  const error = empty ? say('email.empty') : problem?.words;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!email.trim());
    if (email.trim()) void flow.act('emailchallenge', { spec: { email: email.trim() } });
  };
  return (
    <form method="post" noValidate onSubmit={submit}>
      <Field
        id="email"
        name="username"
        label={say('email.label')}
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
      <Button look="main" submit busy={flow.busy === 'emailchallenge'} progress="email.sending">
        {say('email.go')}
      </Button>
      <p class="fine">{say('email.note')}</p>
    </form>
  );
}

/**
 * A sign-in to the account page by any way, which goes on where passkeys that are lost are told of.
 */
const recovering = (): string =>
  `/oauth2/auth?${new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/account`,
    prompt: 'login',
    state: 'recover',
  })}`;

/** The first view: who signs in. */
export function EmailView({ flow }: { flow: Flow }) {
  const { phase, client, methods } = flow.interaction!.status;
  const byEmail = !methods || methods.includes('EmailCode') || methods.includes('EmailLink');
  const passkey = offersPasskey(flow);
  return (
    <View
      title="email.title"
      values={{ client: client.displayName }}
      phase={phase}
      error={Boolean(flow.problem)}
      above={<Head client={client} />}
    >
      {byEmail ? <EmailForm flow={flow} /> : !passkey && <p class="lead">{tell('email.none')}</p>}
      {passkey && (
        <div class={byEmail ? 'or' : ''}>
          <PasskeyButton flow={flow} main={!byEmail} autofill={byEmail} />
        </div>
      )}
      {!byEmail && client.name === 'vestibule-account' && (
        <p class="fine">
          <a href={recovering()}>{say('email.lost')}</a>
        </p>
      )}
    </View>
  );
}
