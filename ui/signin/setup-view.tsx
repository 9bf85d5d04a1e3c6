import { useState } from 'preact/hooks';
import { announce } from '../base/live-region.js';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { Latin, say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import type { Flow } from './sign-in-store.js';
import { passkeys } from './lazy-passkeys.js';
import { passkeyDue, setupOffered } from './setup-reminder.js';

/** Setup is not asked for again soon, whichever way it was left. */
function goOn(flow: Flow): void {
  setupOffered();
  flow.leave();
}

const Skip = ({ flow }: { flow: Flow }) => (
  <Button press={() => goOn(flow)}>{say('setup.skip')}</Button>
);

function NameForm({ flow }: { flow: Flow }) {
  const [name, setName] = useState(flow.interaction!.status.account?.displayName ?? '');
  const [empty, setEmpty] = useState(false);
  const problem =
    flow.problem?.action === 'account' && flow.problem.quiet ? flow.problem : undefined;
  const error = empty ? say('setup.empty') : problem?.words;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!name.trim());
    if (!name.trim()) return;
    setupOffered();
    void flow.save({ displayName: name.trim() });
  };
  return (
    <form method="post" noValidate onSubmit={submit}>
      <Field
        id="displayName"
        name="name"
        label={say('setup.name')}
        autoComplete="name"
        dir="auto"
        hint={say('setup.hint')}
        value={name}
        error={error}
        onText={setName}
      />
      <div class="pair">
        <Button look="main" submit busy={flow.busy === 'account'} progress="setup.saving">
          {say('setup.go')}
        </Button>
        <Skip flow={flow} />
      </div>
    </form>
  );
}

/** The offer of a passkey, with the reason for it. */
function PasskeyOffer({ flow, main, added }: { flow: Flow; main: boolean; added: () => void }) {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    const part = await passkeys.get().catch(() => undefined);
    if (!part) flow.tell('offline');
    const done = await part?.add(flow);
    setBusy(false);
    if (done) added();
  };
  return (
    <>
      <p>{say(flow.crossDevice ? 'setup.passkey.here' : 'setup.passkey.why')}</p>
      <div class="pair">
        <Button
          look={main ? 'main' : undefined}
          busy={busy}
          progress="email.asking"
          press={() => void press()}
        >
          {say('setup.passkey.add')}
        </Button>
        {main && <Skip flow={flow} />}
      </div>
    </>
  );
}

/** What is still missing on the account, and a way past it. */
export function SetupView({ flow }: { flow: Flow }) {
  const { phase, account } = flow.interaction!.status;
  const [has, setHas] = useState(false);
  const naming = Boolean(account?.setup.missing.includes('displayName'));
  const passkey = !has && passkeyDue(account, flow.crossDevice);
  const added = (): void => {
    if (!naming) {
      goOn(flow);
      return;
    }
    announce(say('setup.passkey.added'));
    setHas(true);
    requestAnimationFrame(() => document.getElementById('displayName')?.focus());
  };
  return (
    <View title="setup.title" phase={phase} error={Boolean(flow.problem)}>
      <p class="lead">{tell('setup.what', { email: <Latin of={account!.email} strong /> })}</p>
      {has && <p class="notice">{say('setup.passkey.added')}</p>}
      {naming && <NameForm flow={flow} />}
      {passkey && (
        <div class={naming ? 'or' : ''}>
          <PasskeyOffer flow={flow} main={!naming} added={added} />
        </div>
      )}
    </View>
  );
}
