import { useState } from 'preact/hooks';
import type { AccessRequest } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useCollection } from '../../base/api/collection.js';
import { Field } from '../../base/field.js';
import { addMessages } from '../../base/text/i18n.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import messages from '../../messages/en/accessrequests.json';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { AnyObject, Kind } from '../base/kind.js';
import { actionCommand, actionPath } from '../base/kubectl.js';
import { A, Failure, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { Person } from './person.js';

addMessages(messages);

/** Who asks for which group, until when. */
const Asks = ({ request: { spec, status } }: { request: AccessRequest }) => (
  <>
    {format('console.access.asks', {
      person: <Person name={status.account} />,
      group: <bdi dir="ltr">{spec.group}</bdi>,
      until: <Timestamp of={spec.until} />,
    })}
  </>
);

const actions = {
  approve: { body: 'AccessRequestApproval', isDanger: false },
  deny: { body: 'AccessRequestDenial', isDanger: true },
} as const;

function Verdict({
  kind,
  name,
  action,
  message,
}: {
  kind: Kind;
  name: string;
  action: keyof typeof actions;
  message: string;
}) {
  const mayAct = useIsAllowed(kind, 'create', name, action);
  if (!mayAct) return null;
  const { body: bodyKind, isDanger } = actions[action];
  const spec = message ? { message } : {};
  const body = { apiVersion: kind.apiVersion, kind: bodyKind, spec };
  return (
    <Act
      label={t(`console.access.${action}`)}
      command={actionCommand(kind, name, action, body)}
      isDanger={isDanger}
      work={() => call('POST', actionPath(kind, name, action), body)}
      done={t(`console.access.${action}.done`)}
    >
      {t(`console.access.${action}.what`)}
    </Act>
  );
}

/** A pending request: who asks, and the two answers with a message. */
export function AccessDecision({ kind, object }: { kind: Kind; object: AnyObject }) {
  const request = object as unknown as AccessRequest;
  const [message, setMessage] = useState('');
  if (request.status.phase !== 'Pending') return null;
  const props = { kind, name: request.metadata.name, message: message.trim() };
  return (
    <Part id="decide" title={t('console.access.decide')}>
      <p>
        <Asks request={request} />
      </p>
      <Field
        id="message"
        label={t('console.access.message')}
        value={message}
        maxLength={200}
        onText={setMessage}
      />
      <Verdict {...props} action="approve" />
      <Verdict {...props} action="deny" />
    </Part>
  );
}

/** The requests that wait for a decision; nothing if there is none. */
export function WaitingRequests({ kind }: { kind: Kind }) {
  const { items, failure, reload } = useCollection<AccessRequest>(kind.path, {
    fieldSelector: 'status.phase=Pending',
  });
  if (failure) return <Failure failure={failure} retry={reload} />;
  const waiting = items?.filter(({ status }) => status.phase === 'Pending') ?? [];
  if (waiting.length === 0) return null;
  return (
    <Part id="waiting" title={t('console.access.waiting')}>
      <ul class="rows">
        {waiting.map((request) => (
          <li key={request.metadata.name}>
            <p>
              <Asks request={request} />
            </p>
            <p class="hint">
              <bdi>{request.spec.reason}</bdi>
            </p>
            <p>
              <A to={pathTo(kind.resource, request.metadata.name)} look="button small">
                {t('console.access.decide')}
              </A>
            </p>
          </li>
        ))}
      </ul>
    </Part>
  );
}
