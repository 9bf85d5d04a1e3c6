import { Button } from '../../base/button.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import { isAccountPage, nameOf } from '../../base/text/local-text.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { ClientHeader } from './client-header.js';

/** The view of an emailed link. Nothing happens until the person presses the button. */
export function LinkView({ store }: { store: SignInStore }) {
  const { phase, client, emailChallenge } = store.interaction!.status;
  return (
    <View
      title={isAccountPage(client) ? 'link.go' : 'link.title'}
      values={{ client: nameOf(client) }}
      phase={phase}
      error={Boolean(store.problem)}
      header={<ClientHeader client={client} />}
    >
      <p class="lead">
        {emailChallenge
          ? format('link.as', { email: <Ltr of={emailChallenge.email} strong /> })
          : t('link.unknown')}
      </p>
      <Button
        variant="main"
        busy={store.busy === 'login'}
        onPress={() =>
          void store.act('login', { spec: { method: 'EmailLink', token: store.token } })
        }
      >
        {t('link.go')}
      </Button>
    </View>
  );
}
