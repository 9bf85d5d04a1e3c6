import type { ObjectMeta } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useCollection } from '../../base/api/collection.js';
import { Ltr, format, t } from '../../base/text/message.js';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath } from '../base/kubectl.js';
import { A, Day, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';

interface Invitation {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly email?: string };
  readonly status: { readonly deliveryState?: 'Deferred' | 'Failed' | 'Unknown' };
}

/** One invitation that did not arrive, why, and the way to send it again. */
function Failed({ kind, invitation }: { kind: Kind; invitation: Invitation }) {
  const { name, creationTimestamp } = invitation.metadata;
  const { email = name } = invitation.spec;
  const mayMail = useIsAllowed(kind, 'create', name, 'mail');
  const body = { apiVersion: kind.apiVersion, kind: 'InvitationMail', spec: {} };
  return (
    <li>
      <div>
        <A to={pathTo(kind.resource, name)}>
          <Ltr of={email} />
        </A>
        <p class="hint">
          {t(`mail.state.${invitation.status.deliveryState!}`)} · <Day of={creationTimestamp} />
        </p>
      </div>
      {mayMail && (
        <Act
          label={t('mail.again')}
          command={actionCommand(kind, name, 'mail', body)}
          work={() => call('POST', actionPath(kind, name, 'mail'), body)}
          done={t('mail.sent')}
        >
          {format('mail.again.what', { address: <Ltr of={email} /> })}
        </Act>
      )}
    </li>
  );
}

/** The invitations that are pending and whose mail did not arrive. */
export function FailedMails({ kind }: { kind: Kind }) {
  const { items } = useCollection<Invitation>(kind.path, {
    fieldSelector: 'status.phase=Pending',
  });
  const failed = (items ?? []).filter(({ status }) => status.deliveryState !== undefined);
  return (
    <Part id="failed" title={t('mail.failed')}>
      {items && failed.length === 0 && <p class="hint">{t('mail.failed.none')}</p>}
      <ul class="rows">
        {failed.map((invitation) => (
          <Failed key={invitation.metadata.name} kind={kind} invitation={invitation} />
        ))}
      </ul>
    </Part>
  );
}
