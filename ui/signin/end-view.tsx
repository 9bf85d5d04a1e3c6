import { tell } from '../base/message.js';
import { View } from '../base/view.js';
import type { Flow } from './sign-in-store.js';
import { WayBack } from './blocked-view.js';

/** After the end: signed in elsewhere or before, or cancelled. */
export function EndView({ flow }: { flow: Flow }) {
  const { phase, client } = flow.interaction!.status;
  const cancelled = flow.ending === 'cancelled';
  return (
    <View title={cancelled ? 'cancelled.title' : 'done.title'} phase={phase}>
      <p class="lead">
        {cancelled ? tell('cancelled.what', { client: client.displayName }) : tell('done.what')}
      </p>
      {cancelled && <WayBack client={client} />}
    </View>
  );
}
