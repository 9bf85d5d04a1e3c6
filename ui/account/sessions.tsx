import { useState } from 'preact/hooks';
import type { Session } from '../api.js';
import { announce } from '../base/live-region.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import { useCollection, type Kept } from '../base/collection.js';
import { t } from '../base/message.js';
import { useAct } from './use-action.js';
import { Confirm } from './confirm.js';
import { owned, useMe } from './account-context.js';
import { Listed, Section, toPart } from './section.js';
import { nameOf, SessionRow } from './session-row.js';

const inOrder = (all: readonly Session[]): Session[] =>
  [...all].sort(
    (a, b) =>
      Number(b.status.current) - Number(a.status.current) ||
      b.status.lastUsedTimestamp.localeCompare(a.status.lastUsedTimestamp),
  );

/** Whether a session is still one: an ending one is shown until every service was told. */
const lives = ({ metadata }: Session): boolean => !metadata.deletionTimestamp;

const statesOf = ({ status }: Session) => status.signOut?.clients ?? [];

/** Some services are being told of the end still. */
const isTelling = (session: Session): boolean =>
  statesOf(session).some(({ state }) => state === 'Retrying');

/** Where someone may be signed in still, since no one could tell. */
const untold = (session: Session) =>
  statesOf(session).filter(({ state }) => state === 'GaveUp' || state === 'Unsupported');

/**
 * What ended while the page was open and left services untold: it stays to be read, as the API does
 * not keep it.
 */
function useEnded(): readonly [readonly Session[], (session: Session) => void] {
  const [over, setOver] = useState<readonly Session[]>([]);
  const note = (session: Session): void => {
    if (untold(session).length > 0)
      setOver((all) => [
        ...all.filter(({ metadata }) => metadata.name !== session.metadata.name),
        session,
      ]);
  };
  return [over, note];
}

function Others({
  sessions,
  ended,
}: {
  sessions: Kept<Session>;
  ended: (session: Session) => void;
}) {
  const [asking, setAsking] = useState(false);
  const act = useAct();
  const items = sessions.items ?? [];
  const others = items.filter((session) => lives(session) && !session.status.current).length;
  const current = items.find(({ status }) => status.current);
  const end = async (): Promise<void> => {
    const done = await act.run(async () => {
      const gone = await call<{ items: Session[] }>(
        'DELETE',
        `sessions?${new URLSearchParams({ fieldSelector: `metadata.name!=${current!.metadata.name}` })}`,
      );
      for (const session of gone.items) ended(session);
      sessions.again();
    });
    if (!done) return;
    setAsking(false);
    announce(t('sessions.others.done'));
    toPart('sessions');
  };
  if (asking && others > 0) {
    return (
      <Confirm
        act={act}
        confirm={end}
        keep={() => {
          act.clear();
          setAsking(false);
          toPart('sessions');
        }}
      >
        <p>{t('sessions.others.ask', { count: others })}</p>
      </Confirm>
    );
  }
  if (!current || others === 0)
    return sessions.items ? <p class="hint">{t('sessions.only')}</p> : null;
  return <Button press={() => setAsking(true)}>{t('sessions.others')}</Button>;
}

/**
 * The browsers in which the account is signed in, this one marked, and those just being signed out.
 */
export function Sessions() {
  const { account, live } = useMe();
  const [over, note] = useEnded();
  const sessions = useCollection<Session>('sessions', owned(account), live, (last) => {
    note(last);
    const given = statesOf(last).filter(({ state }) => state === 'GaveUp');
    for (const { name } of given) announce(t('sessions.GaveUp', { client: nameOf(last, name) }));
  });
  const ended = (session: Session): void => {
    if (isTelling(session)) {
      sessions.renew(session);
      return;
    }
    sessions.drop(session.metadata.name);
    note(session);
  };
  const stands = new Set(sessions.items?.map(({ metadata }) => metadata.name));
  const left = over.filter(({ metadata }) => !stands.has(metadata.name));
  const shown = { ...sessions, ...(sessions.items && { items: [...sessions.items, ...left] }) };
  return (
    <Section id="sessions">
      <Listed
        of={shown}
        list="sessions.list"
        look="things"
        order={inOrder}
        row={(session) => (
          <SessionRow
            key={session.metadata.name}
            session={session}
            over={left.includes(session)}
            ended={ended}
          />
        )}
      />
      <Others sessions={sessions} ended={ended} />
    </Section>
  );
}
