import { useState } from 'preact/hooks';
import type { Session } from '../api.js';
import { announce } from '../base/announcement.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import { useCollection, type Kept } from '../base/collection.js';
import { say } from '../base/message.js';
import { Fault, useAct } from './act.js';
import { Confirm } from './confirm.js';
import { owned, useMe } from './me.js';
import { Listed, Part, toPart } from './part.js';
import { SessionRow } from './session-row.js';

const inOrder = (all: readonly Session[]): Session[] =>
  [...all].sort((a, b) => Number(b.status.current) - Number(a.status.current) || b.status.lastUsedTimestamp.localeCompare(a.status.lastUsedTimestamp));

/** Whether a session is still one: an ending one is shown until every service was told. */
const lives = ({ metadata }: Session): boolean => !metadata.deletionTimestamp;

function Others({ sessions }: { sessions: Kept<Session> }) {
  const [asking, setAsking] = useState(false);
  const { busy, failure, run, clear } = useAct();
  const items = sessions.items ?? [];
  const others = items.filter((session) => lives(session) && !session.status.current).length;
  const current = items.find(({ status }) => status.current);
  const end = async (): Promise<void> => {
    const ended = await run(async () => {
      await call('DELETE', `sessions?${new URLSearchParams({ fieldSelector: `metadata.name!=${current!.metadata.name}` })}`);
      sessions.again();
    });
    if (!ended) return;
    setAsking(false);
    announce(say('sessions.others.done'));
    toPart('sessions');
  };
  if (asking && others > 0) {
    return (
      <Confirm busy={busy} confirm={() => void end()} keep={() => { clear(); setAsking(false); toPart('sessions'); }}>
        <p>{say('sessions.others.ask', { count: others })}</p>
        <Fault failure={failure} />
      </Confirm>
    );
  }
  if (!current || others === 0) return sessions.items ? <p class="hint">{say('sessions.only')}</p> : null;
  return <Button press={() => setAsking(true)}>{say('sessions.others')}</Button>;
}

/** The browsers in which the account is signed in, this one marked, and those just being signed out. */
export function Sessions() {
  const { account, live } = useMe();
  const sessions = useCollection<Session>('sessions', owned(account), live);
  return (
    <Part id="sessions" title="sessions.title">
      <Listed of={sessions} list="sessions.list" look="things" order={inOrder} row={(session) => <SessionRow key={session.metadata.name} session={session} all={sessions} />} />
      <Others sessions={sessions} />
    </Part>
  );
}
