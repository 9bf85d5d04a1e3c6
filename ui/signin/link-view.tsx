import { Button } from '../base/button.js';
import { Latin, t, format } from '../base/message.js';
import { View } from '../base/view.js';
import type { SignInStore } from './sign-in-store.js';
import { Head } from './client-header.js';

/** Where an emailed link lands: nothing happens until the person acts. */
export function LinkView({ store }: { store: SignInStore }) {
  const { phase, client, emailChallenge } = store.interaction!.status;
  return (
    <View
      title="link.title"
      values={{ client: client.displayName }}
      phase={phase}
      error={Boolean(store.problem)}
      above={<Head client={client} />}
    >
      <p class="lead">
        {emailChallenge
          ? format('link.as', { email: <Latin of={emailChallenge.email} strong /> })
          : t('link.unknown')}
      </p>
      <Button
        look="main"
        busy={store.busy === 'login'}
        press={() => void store.act('login', { spec: { method: 'EmailLink', token: store.token } })}
      >
        {t('link.go')}
      </Button>
    </View>
  );
}
