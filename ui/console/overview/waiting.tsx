import type { ComponentChildren } from 'preact';
import type { AccessRequest } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { Icon, type IconName } from '../../base/frame/icon.js';
import { format, t } from '../../base/text/message.js';
import { Person } from '../access/person.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { ago } from './ago.js';

/** How many requests are shown; the list of all of them is one link away. */
const shown = 5;

interface ItemProps {
  icon: IconName;
  hint?: string;
  act: ComponentChildren;
  children: ComponentChildren;
}

/** Something that an operator should do, when it came, and the way to do it. */
const Item = ({ icon, hint, act, children }: ItemProps) => (
  <li>
    <Icon of={icon} />
    <div>
      <p>{children}</p>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
    {act}
  </li>
);

/** The requests for access that are not decided. */
function useRequests(kind: Kind | undefined): readonly AccessRequest[] {
  const { items } = useCollection<AccessRequest>(kind?.path, {
    fieldSelector: 'status.phase=Pending',
  });
  return items ?? [];
}

const Requests = ({ kind, requests }: { kind: Kind; requests: readonly AccessRequest[] }) => (
  <>
    {requests.slice(0, shown).map(({ metadata, spec, status }) => (
      <Item
        key={metadata.name}
        icon="inbox"
        hint={ago(metadata.creationTimestamp)}
        act={
          <A look="button small" to={pathTo(kind.resource, metadata.name)}>
            {t('overview.decide')}
          </A>
        }
      >
        {format('overview.asks', {
          person: <Person name={status.account} />,
          group: <bdi dir="ltr">{spec.group}</bdi>,
        })}
      </Item>
    ))}
    {requests.length > shown && (
      <Item
        icon="inbox"
        act={
          <A look="button small" to={pathTo(kind.resource)}>
            {t('overview.see')}
          </A>
        }
      >
        {t('overview.asks.more', { count: requests.length - shown })}
      </Item>
    )}
  </>
);

/** What waits for an operator; `failedMails` is how many tries to send one failed. */
export function Waiting({ failedMails }: { failedMails: number }) {
  const kind = kindOf(useConsole().listed, 'AccessRequest');
  const requests = useRequests(kind);
  return (
    <section class="panel" aria-labelledby="waiting">
      <div class="panel-head">
        <h2 id="waiting">{t('overview.waiting')}</h2>
      </div>
      {requests.length === 0 && failedMails === 0 && (
        <p class="empty">{t('overview.waiting.none')}</p>
      )}
      <ul class="waits">
        {kind && <Requests kind={kind} requests={requests} />}
        {failedMails > 0 && (
          <Item
            icon="mail"
            act={
              <A look="button small" to={pathTo('mail')}>
                {t('overview.see')}
              </A>
            }
          >
            {t('overview.mail.failed', { count: failedMails })}
          </Item>
        )}
      </ul>
    </section>
  );
}
