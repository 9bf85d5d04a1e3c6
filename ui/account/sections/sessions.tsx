import { useState } from 'preact/hooks';
import type { Session } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { useCollection, type LiveCollection } from '../../base/api/collection.js';
import { t } from '../../base/text/message.js';
import { useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';
import { SectionList, Section, focusSection } from '../base/section.js';
import { clientName, SessionRow } from './session-row.js';

const sorted = (sessions: readonly Session[]): Session[] =>
  [...sessions].sort(
    (a, b) =>
      Number(b.status.current) - Number(a.status.current) ||
      b.status.lastUsedTimestamp.localeCompare(a.status.lastUsedTimestamp),
  );

/** Returns whether a session is active. An ending one is shown until every app was notified. */
const isActive = ({ metadata }: Session): boolean => !metadata.deletionTimestamp;

const clientStates = ({ status }: Session) => status.signOut?.clients ?? [];

/** Returns whether some apps are still being notified of the sign-out. */
const isNotifying = (session: Session): boolean =>
  clientStates(session).some(({ state }) => state === 'Retrying');

/** Returns the apps that may still be signed in, because they could not be notified. */
const unnotifiedClients = (session: Session) =>
  clientStates(session).filter(({ state }) => state === 'GaveUp' || state === 'Unsupported');

/**
 * Returns sessions that ended while the page was open with apps not notified. They stay visible,
 * because the API deletes them.
 */
function useEnded(): readonly [readonly Session[], (session: Session) => void] {
  const [ended, setOver] = useState<readonly Session[]>([]);
  const add = (session: Session): void => {
    if (unnotifiedClients(session).length > 0) {
      setOver((ended) => [
        ...ended.filter(({ metadata }) => metadata.name !== session.metadata.name),
        session,
      ]);
    }
  };
  return [ended, add];
}

function Others({
  sessions,
  ended,
}: {
  sessions: LiveCollection<Session>;
  ended: (session: Session) => void;
}) {
  const [asking, setAsking] = useState(false);
  const act = useAction();
  const items = sessions.items ?? [];
  const others = items.filter((session) => isActive(session) && !session.status.current).length;
  const current = items.find(({ status }) => status.current);
  const end = async (): Promise<void> => {
    const done = await act.run(async () => {
      const gone = await call<{ items: Session[] }>(
        'DELETE',
        `sessions?${new URLSearchParams({ fieldSelector: `metadata.name!=${current!.metadata.name}` })}`,
      );
      for (const session of gone.items) ended(session);
      sessions.reload();
    });
    if (!done) return;
    setAsking(false);
    announce(t('sessions.others.done'));
    focusSection('sessions');
  };
  if (asking && others > 0) {
    return (
      <Confirm
        action={act}
        onConfirm={end}
        onCancel={() => {
          act.clear();
          setAsking(false);
          focusSection('sessions');
        }}
      >
        <p>{t('sessions.others.ask', { count: others })}</p>
      </Confirm>
    );
  }
  if (!current || others === 0) {
    return sessions.items ? <p class="hint">{t('sessions.only')}</p> : null;
  }
  return <Button onPress={() => setAsking(true)}>{t('sessions.others')}</Button>;
}

/** The sessions of the account, and those that ended while the page was open. */
export function useSessions() {
  const { account, isLive } = useAccountContext();
  const [endedSessions, addEnded] = useEnded();
  const sessions = useCollection<Session>('sessions', ownedBy(account), isLive, (last) => {
    addEnded(last);
    const failed = clientStates(last).filter(({ state }) => state === 'GaveUp');
    for (const { name } of failed) {
      announce(t('sessions.GaveUp', { client: clientName(last, name) }));
    }
  });
  return { sessions, endedSessions, addEnded };
}

/** The browsers that are signed in, this one marked, and those being signed out. */
export function Sessions({ sessions, endedSessions, addEnded }: ReturnType<typeof useSessions>) {
  const ended = (session: Session): void => {
    if (isNotifying(session)) {
      sessions.replaceIfNewer(session);
      return;
    }
    sessions.remove(session.metadata.name);
    addEnded(session);
  };
  const listedNames = new Set(sessions.items?.map(({ metadata }) => metadata.name));
  const left = endedSessions.filter(({ metadata }) => !listedNames.has(metadata.name));
  const shown = { ...sessions, ...(sessions.items && { items: [...sessions.items, ...left] }) };
  return (
    <Section id="sessions">
      <SectionList
        collection={shown}
        list="sessions.list"
        look="things"
        order={sorted}
        row={(session) => (
          <SessionRow
            key={session.metadata.name}
            session={session}
            isOver={left.includes(session)}
            onEnded={ended}
          />
        )}
      />
      <Others sessions={sessions} ended={ended} />
    </Section>
  );
}
