import { Button } from '../base/button.js';
import { Latin, say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import type { Flow } from './sign-in-store.js';
import { Head } from './client-header.js';

/** Where an emailed link lands: nothing happens until the person acts. */
export function LinkView({ flow }: { flow: Flow }) {
  const { phase, client, emailChallenge } = flow.interaction!.status;
  return (
    <View
      title="link.title"
      values={{ client: client.displayName }}
      phase={phase}
      error={Boolean(flow.problem)}
      above={<Head client={client} />}
    >
      <p class="lead">
        {emailChallenge
          ? tell('link.as', { email: <Latin of={emailChallenge.email} strong /> })
          : say('link.unknown')}
      </p>
      <Button
        look="main"
        busy={flow.busy === 'login'}
        press={() => void flow.act('login', { spec: { method: 'EmailLink', token: flow.token } })}
      >
        {say('link.go')}
      </Button>
    </View>
  );
}
