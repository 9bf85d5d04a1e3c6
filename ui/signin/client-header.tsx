import type { InteractionClient } from '../api.js';
import { hostOf } from '../base/link.js';
import { Ltr } from '../base/message.js';
import { Monogram } from '../base/monogram.js';
import { nameOf } from '../base/local-text.js';

/** The app of the sign-in: its logo and the host of its home page. */
export function ClientHeader({ client }: { client: InteractionClient }) {
  const host = hostOf(client.homepageURI);
  return (
    <div class="party">
      <Monogram name={nameOf(client)} logo={client.logoURI} />
      {host && (
        <span class="host">
          <Ltr of={host} />
        </span>
      )}
    </div>
  );
}
