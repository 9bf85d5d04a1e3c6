import { useRef, useState } from 'preact/hooks';
import type { Session } from '../api.js';
import { announce } from '../base/live-region.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import { cap, t, format } from '../base/message.js';
import { Moment } from '../base/relative-time.js';
import { row } from '../decisions/words.js';
import { useAct } from './use-action.js';
import { Confirm } from './confirm.js';
import { Hidden } from './visually-hidden.js';
import { useMe } from './account-context.js';
import { toPart } from './section.js';

/** What the browser is called, as far as it said. */
function deviceOf({ status: { client } }: Session): string {
  const [browser, os] = [client.browser, client.os].map((word) => (word === 'Other' ? '' : word));
  return browser && os
    ? t('sessions.device', { browser, os })
    : browser || os || t('sessions.unknown');
}

/**
 * When and how it was signed in, for which services, until when, and what happened in it, the
 * newest first.
 */
function Facts({ session }: { session: Session }) {
  const { status } = session;
  const methods = row(status.methods.map((method) => t(`sessions.${method}`)));
  return (
    <>
      <p class="hint">
        {format('sessions.since', {
          when: <Moment of={status.authenticationTimestamp} />,
          methods: <>{methods}</>,
          used: <Moment of={status.lastUsedTimestamp} />,
        })}
      </p>
      {status.clients.length > 0 && (
        <p class="hint">
          {format('sessions.clients', {
            clients: (
              <>{row(status.clients.map(({ displayName }) => <bdi>{cap(displayName)}</bdi>))}</>
            ),
          })}
        </p>
      )}
      {!status.signOut && (
        <p class="hint">
          {format('sessions.until', { when: <Moment of={status.expirationTimestamp} /> })}
        </p>
      )}
      {status.recentEvents && (
        <details>
          <summary>{t('sessions.events')}</summary>
          <ul class="told">
            {[...status.recentEvents]
              .reverse()
              .map(({ type, timestamp, method, browser, client }) => (
                <li>
                  {format(`sessions.${type}`, {
                    when: <Moment of={timestamp} />,
                    methods: method && t(`sessions.${method}`),
                    browser,
                    client: client && nameOf(session, client),
                  })}
                </li>
              ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** What a service is called that was signed in to there. */
export const nameOf = ({ status }: Session, client: string): string =>
  cap(status.clients.find(({ name }) => name === client)?.displayName ?? client);

function Ending({ session }: { session: Session }) {
  const clients = session.status.signOut?.clients ?? [];
  return (
    <ul class="told">
      {clients.map(({ name, state }) => (
        <li key={name} data-state={state}>
          {format(`sessions.${state}`, { client: <bdi>{nameOf(session, name)}</bdi> })}
        </li>
      ))}
    </ul>
  );
}

/** What the browser is called, and whether it is this one or ends. */
function Device({ session, over }: { session: Session; over: boolean }) {
  return (
    <h3>
      <bdi>{cap(deviceOf(session))}</bdi>{' '}
      {session.status.current && <span class="word allowed">{t('sessions.current')}</span>}
      {session.metadata.deletionTimestamp && (
        <span class="word sensitive">{t(over ? 'sessions.over' : 'sessions.ending')}</span>
      )}
    </h3>
  );
}

/**
 * One browser: when and how it was signed in, for which services, and the way to end it; once that
 * is done, what became of each service. `over`: nothing more will.
 */
export function SessionRow({
  session,
  over,
  ended,
}: {
  session: Session;
  over: boolean;
  ended: (session: Session) => void;
}) {
  const { leave } = useMe();
  const [asking, setAsking] = useState(false);
  const act = useAct();
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
    toPart('sessions');
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
      {deletionTimestamp && <Ending session={session} />}
      {!deletionTimestamp && !asking && (
        <p class="deeds">
          <Button look="small" press={() => setAsking(true)}>
            {format('sessions.end', { device: <Hidden>{cap(device)}</Hidden> })}
          </Button>
        </p>
      )}
      {!deletionTimestamp && asking && (
        <Confirm act={act} confirm={end} keep={keep}>
          <p>{t(current ? 'sessions.end.here' : 'sessions.end.ask')}</p>
        </Confirm>
      )}
    </li>
  );
}
