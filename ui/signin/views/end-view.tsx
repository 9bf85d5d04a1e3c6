import { format, t } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import { isAccountPage, nameOf } from '../../base/text/local-text.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { WayOn } from './blocked-view.js';

/** Shown after the end: signed in elsewhere or earlier, or cancelled. */
export function EndView({ store }: { store: SignInStore }) {
  const { phase, client } = store.interaction!.status;
  const cancelled = store.ending === 'cancelled';
  return (
    <View title={cancelled ? 'cancelled.title' : 'done.title'} phase={phase}>
      <p class="lead">
        {cancelled && !isAccountPage(client)
          ? format('cancelled.what', { client: nameOf(client) })
          : t('done.what')}
      </p>
      <WayOn client={client} />
    </View>
  );
}
