import { useRef, useState } from 'preact/hooks';
import type { Session } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { nameOf } from '../../base/text/local-text.js';
import { Text, truncate, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { joinList } from '../../decisions/words.js';
import { useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { browserName, deviceName } from './device-name.js';
import { VisuallyHidden } from '../base/visually-hidden.js';
import { useAccountContext } from '../base/account-context.js';
import { focusSection } from '../base/section.js';

const deviceOf = ({ status: { client } }: Session): string => deviceName(client);

/** When and how the person signed in, for which apps, until when, and its events, newest first. */
function Facts({ session }: { session: Session }) {
  const { status } = session;
  const methods = joinList(status.methods.map((method) => t(`sessions.${method}`)));
  return (
    <>
      <p class="hint">
        {format('sessions.since', {
          when: <Timestamp of={status.authenticationTimestamp} />,
          methods: <>{methods}</>,
          used: <Timestamp of={status.lastUsedTimestamp} />,
        })}
      </p>
      {status.clients.length > 0 && (
        <p class="hint">
          {format('sessions.clients', {
            clients: <>{joinList(status.clients.map((client) => <Text of={nameOf(client)} />))}</>,
          })}
        </p>
      )}
      {!status.signOut && (
        <p class="hint">
          {format('sessions.until', { when: <Timestamp of={status.expirationTimestamp} /> })}
        </p>
      )}
      {status.recentEvents && (
        <details>
          <summary>{t('sessions.events')}</summary>
          <ul class="events">
            {[...status.recentEvents]
              .reverse()
              .map(({ type, timestamp, method, browser, client }) => (
                <li>
                  {format(`sessions.${type}`, {
                    when: <Timestamp of={timestamp} />,
                    methods: method && t(`sessions.${method}`),
                    browser: browserName(browser),
                    client: client && clientName(session, client),
                  })}
                </li>
              ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Returns the display name of an app of the session. */
export function clientName({ status }: Session, name: string): string {
  const client = status.clients.find((known) => known.name === name);
  return client ? nameOf(client) : name;
}

function SignOutProgress({ session }: { session: Session }) {
  const clients = session.status.signOut?.clients ?? [];
  return (
    <ul class="events">
      {clients.map(({ name, state }) => (
        <li key={name} data-state={state}>
          {format(`sessions.${state}`, { client: clientName(session, name) })}
        </li>
      ))}
    </ul>
  );
}

/** The name of the browser, and whether it is this one or is being signed out. */
function Device({ session, over }: { session: Session; over: boolean }) {
  return (
    <h3>
      <bdi>{truncate(deviceOf(session))}</bdi>{' '}
      {session.status.current && <span class="word allowed">{t('sessions.current')}</span>}
      {session.metadata.deletionTimestamp && (
        <span class="word sensitive">{t(over ? 'sessions.over' : 'sessions.ending')}</span>
      )}
    </h3>
  );
}

/**
 * One browser and the button to sign it out. After that, the state of each app. `isOver`: no state
 * will change any more.
 */
export function SessionRow({
  session,
  isOver: over,
  onEnded: ended,
}: {
  session: Session;
  isOver: boolean;
  onEnded: (session: Session) => void;
}) {
  const { leave } = useAccountContext();
  const [asking, setAsking] = useState(false);
  const act = useAction();
  const place = useRef<HTMLLIElement>(null);
  const {
    metadata: { name, deletionTimestamp },
    status: { current },
  } = session;
  const device = deviceOf(session);
  const end = async (): Promise<void> => {
    const done = await act.run(async () =>
      ended(await call<Session>('DELETE', `sessions/${name}`)),
    );
    if (!done) return;
    if (current) {
      leave('signedout');
      return;
    }
    setAsking(false);
    announce(t('sessions.ended', { device }));
    focusSection('sessions');
  };
  const keep = (): void => {
    act.clear();
    setAsking(false);
    requestAnimationFrame(() => place.current?.querySelector('button')?.focus());
  };
  return (
    <li class="thing" ref={place}>
      <Device session={session} over={over} />
      <Facts session={session} />
      {deletionTimestamp && <SignOutProgress session={session} />}
      {!deletionTimestamp && !asking && (
        <p class="actions">
          <Button variant="small" onPress={() => setAsking(true)}>
            {format('sessions.end', {
              device: <VisuallyHidden>{device}</VisuallyHidden>,
            })}
          </Button>
        </p>
      )}
      {!deletionTimestamp && asking && (
        <Confirm action={act} onConfirm={end} onCancel={keep}>
          <p>{t(current ? 'sessions.end.here' : 'sessions.end.ask')}</p>
        </Confirm>
      )}
    </li>
  );
}
