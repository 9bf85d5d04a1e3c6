import { useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { Latin, say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import type { Flow } from './flow.js';
import { setupOffered } from './reminder.js';

/** What is still missing on the account, and a way past it. */
export function SetupView({ flow }: { flow: Flow }) {
  const { phase, account } = flow.interaction!.status;
  const [name, setName] = useState(account?.displayName ?? '');
  const [empty, setEmpty] = useState(false);
  const error = empty ? say('setup.empty') : flow.problem?.quiet ? flow.problem.words : undefined;
  const submit = (event: Event): void => {
    event.preventDefault();
    setEmpty(!name.trim());
    if (name.trim()) void flow.save({ displayName: name.trim() });
  };
  return (
    <View title="setup.title" phase={phase} error={Boolean(flow.problem)}>
      <p class="lead">{tell('setup.what', { email: <Latin of={account!.email} strong /> })}</p>
      <form method="post" noValidate onSubmit={submit}>
        <Field id="displayName" name="name" label={say('setup.name')} autoComplete="name" dir="auto" hint={say('setup.hint')}
          value={name} error={error} onText={setName} />
        <div class="pair">
          <Button look="main" submit busy={flow.busy === 'account'} progress="setup.saving">{say('setup.go')}</Button>
          <Button press={() => { setupOffered(); flow.leave(); }}>{say('setup.skip')}</Button>
        </div>
      </form>
    </View>
  );
}
