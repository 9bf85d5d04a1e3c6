import type { InteractionClient } from '../../api.js';
import { useAppearance } from '../../base/api/appearance.js';
import { hostOf } from '../../base/link.js';
import { Ltr } from '../../base/text/message.js';
import { Monogram } from '../../base/text/monogram.js';
import { isAccountPage, nameOf } from '../../base/text/local-text.js';

/** The app of the sign-in: its logo and the host of its home page; of our own page, ours. */
export function ClientHeader({ client }: { client: InteractionClient }) {
  const { displayName, logo } = useAppearance();
  const host = hostOf(client.homepageURI);
  if (isAccountPage(client)) {
    return (
      <div class="party">
        <Monogram name={displayName ?? location.host} logo={logo} />
      </div>
    );
  }
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
