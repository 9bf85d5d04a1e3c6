import { useState } from 'preact/hooks';
import type { AccessRequest, App } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { addMessages } from '../../base/text/i18n.js';
import { announce } from '../../base/live-region.js';
import { format, Ltr, t, Text } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import messages from '../../messages/en/access.json';
import { Confirm } from '../base/confirm.js';
import { focusSection } from '../base/section.js';
import { ActionError, useAction } from '../base/use-action.js';
import { isPending, type AccessRequests as Requests } from './use-access-requests.js';
import { VisuallyHidden } from '../base/visually-hidden.js';

addMessages(messages);

/** How long a membership can last, in days. */
const choices = [1, 7, 30, 90] as const;

const dayMs = 86_400_000;

/** Returns a time so many days from now, RFC 3339. */
const inDays = (days: number): string =>
  `${new Date(Date.now() + days * dayMs).toISOString().slice(0, 19)}Z`;

interface FormProps {
  id: string;
  groups: readonly string[];
  requests: Requests;
  onEnd: () => void;
}

/** The request for one of the groups that would permit an app: why, and for how long. */
function RequestForm({ id, groups, requests, onEnd }: FormProps) {
  const [group, setGroup] = useState(groups[0]!);
  const [reason, setReason] = useState('');
  const [days, setDays] = useState(String(choices[1]));
  const act = useAction();
  const send = async (): Promise<void> => {
    const sent = await act.run(async () => {
      const spec = { group, reason: reason.trim(), until: inDays(Number(days)) };
      requests.put(await call<AccessRequest>('POST', 'accessrequests', { spec }));
    });
    if (!sent) return;
    announce(t('access.sent'));
    onEnd();
    focusSection('apps');
  };
  return (
    <Form
      look="inset"
      isChecked
      onSubmit={() => {
        if (reason.trim()) void send();
      }}
    >
      {groups.length > 1 && (
        <Field
          id={`${id}-group`}
          label={t('access.group')}
          choices={groups.map((group) => [group, group])}
          value={group}
          onText={setGroup}
        />
      )}
      <Field
        id={`${id}-reason`}
        label={t('access.reason')}
        hint={t('access.reason.hint')}
        maxLength={200}
        required
        autoFocus
        value={reason}
        onText={setReason}
      />
      <Field
        id={`${id}-days`}
        label={t('access.for')}
        choices={choices.map((count) => [String(count), t('access.days', { days: count })])}
        value={days}
        onText={setDays}
      />
      <ActionError failure={act.failure} />
      <div class="pair">
        <Button variant="main" submit busy={act.busy}>
          {t('access.send')}
        </Button>
        <Button onPress={onEnd}>{t('confirm.keep')}</Button>
      </div>
    </Form>
  );
}

/** Offers to request access to an app that policy refuses, unless a request for it waits. */
export function AskForAccess({ app, requests }: { app: App; requests: Requests }) {
  const [isOpen, setOpen] = useState(false);
  const groups = app.requestableGroups ?? [];
  const waits = requests.items?.some(
    (request) => isPending(request) && groups.includes(request.spec.group),
  );
  if (!requests.items || groups.length === 0) return null;
  if (waits) return <p class="hint">{t('access.sent')}</p>;
  if (isOpen) {
    return (
      <RequestForm
        id={`access-${app.client}`}
        groups={groups}
        requests={requests}
        onEnd={() => setOpen(false)}
      />
    );
  }
  return (
    <p class="actions">
      <Button variant="small" onPress={() => setOpen(true)}>
        {t('access.ask')} <VisuallyHidden>{app.displayName}</VisuallyHidden>
      </Button>
    </p>
  );
}

function RequestRow({ request, requests }: { request: AccessRequest; requests: Requests }) {
  const [isRemoving, setRemoving] = useState(false);
  const act = useAction();
  const { metadata, spec, status } = request;
  const word = isPending(request) ? 'withdraw' : 'end';
  const canRemove = isPending(request) || status.phase === 'Approved';
  const remove = async (): Promise<void> => {
    const removed = await act.run(() => call('DELETE', `accessrequests/${metadata.name}`));
    if (!removed) return;
    requests.remove(metadata.name);
    announce(t('access.gone'));
    focusSection('apps');
  };
  return (
    <li class="thing short">
      <div class="party">
        <span>
          {format(`access.${status.phase}`, {
            group: <Ltr of={spec.group} strong />,
            until: <Timestamp of={status.until ?? spec.until} />,
          })}
        </span>
      </div>
      <p class="hint">
        <Text of={spec.reason} max={200} />
      </p>
      {status.message !== undefined && (
        <p class="hint">
          {format('access.message', { message: <Text of={status.message} max={200} /> })}
        </p>
      )}
      {canRemove && !isRemoving && (
        <p class="actions">
          <Button variant="small" onPress={() => setRemoving(true)}>
            {format(`access.${word}`, { group: <VisuallyHidden>{spec.group}</VisuallyHidden> })}
          </Button>
        </p>
      )}
      {canRemove && isRemoving && (
        <Confirm action={act} onConfirm={remove} onCancel={() => setRemoving(false)}>
          <p>{t(`access.${word}.ask`)}</p>
        </Confirm>
      )}
    </li>
  );
}

/** The requests of the person, the newest first; nothing without one. */
export function AccessRequests({ requests }: { requests: Requests }) {
  if (!requests.items?.length) return null;
  const newestFirst = [...requests.items].sort((a, b) =>
    b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp),
  );
  return (
    <>
      <h3 id="access">{t('access.list')}</h3>
      <ul class="things" aria-labelledby="access">
        {newestFirst.map((request) => (
          <RequestRow key={request.metadata.name} request={request} requests={requests} />
        ))}
      </ul>
    </>
  );
}
