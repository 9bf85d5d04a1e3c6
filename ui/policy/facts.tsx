import type { ComponentChild } from 'preact';
import type { Policy } from '../api.js';
import type { MessageID } from '../messages/catalog.js';
import { truncate, Ltr, t, format } from '../base/text/message.js';
import { Timestamp } from '../base/text/timestamp.js';
import { isTrial } from './history.js';

/** Returns the author of a policy. The first one comes with the service. */
export function authorOf(
  { metadata, status: { author } }: Policy,
  me: string | undefined,
): ComponentChild {
  if (author === undefined) return undefined;
  if (author === me) return t('policy.author.you');
  if (author !== 'vestibule') return <bdi>{truncate(author)}</bdi>;
  return t(metadata.name === 'p-1' ? 'policy.author.first' : 'policy.author.service');
}

/** The time during which it was in force, or in trial. */
export function Span({ policy: { metadata, status } }: { policy: Policy }) {
  const since = <Timestamp of={status.inForceSince ?? metadata.creationTimestamp} />;
  if (!status.supersededTimestamp) return since;
  return (
    <>{format('policy.span', { since, until: <Timestamp of={status.supersededTimestamp} /> })}</>
  );
}

const spanMessage = (policy: Policy): MessageID => {
  const hasEnded = policy.status.supersededTimestamp !== undefined;
  if (isTrial(policy)) return hasEnded ? 'policy.trial.was' : 'policy.trial.since';
  return hasEnded ? 'policy.was' : 'policy.since';
};

/** The facts about a policy besides its text. */
export function Facts({ policy, me }: { policy: Policy; me: string | undefined }) {
  const { metadata, spec, status } = policy;
  const rows: [MessageID, ComponentChild][] = [
    ['policy.name', <Ltr of={metadata.name} />],
    [spanMessage(policy), <Span policy={policy} />],
    ['policy.author', authorOf(policy, me)],
    ['policy.description', spec.description && <bdi>{truncate(spec.description, 1024)}</bdi>],
    [
      'policy.hash',
      <>
        <span class="hash">
          <Ltr of={status.hash} />
        </span>{' '}
        <span class="hint">{t('policy.hash.note')}</span>
      </>,
    ],
  ];
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value)
        .map(([id, value]) => (
          <div key={id}>
            <dt>{t(id)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
