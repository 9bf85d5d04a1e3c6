import { useEffect, useState } from 'preact/hooks';
import type { Recovery } from '../api.js';
import { announce } from '../base/live-region.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import type { Kept } from '../base/collection.js';
import { t, format } from '../base/message.js';
import { Moment } from '../base/relative-time.js';
import { Fault, useAct } from './use-action.js';
import { Confirm } from './confirm.js';
import { toPart } from './section.js';
import { clearStep } from './redirects.js';

const step = 'recover';

/** The recovery that waits, if there is one. */
export const waitingOf = ({ items }: Kept<Recovery>): Recovery | undefined =>
  items?.find(({ status }) => status.phase === 'Waiting');

/**
 * Says in every browser that is signed in that the passkeys are going to be removed, with the one
 * press that stops it.
 */
export function RecoveryNotice({ recoveries }: { recoveries: Kept<Recovery> }) {
  const waiting = waitingOf(recoveries);
  const { busy, failure, run } = useAct();
  useEffect(() => {
    if (waiting) announce(t('recovery.title'));
  }, [waiting?.metadata.name]);
  if (!waiting) return null;
  const {
    metadata: { name },
    status,
  } = waiting;
  const stop = async (): Promise<void> => {
    const stopped = await run(async () =>
      recoveries.put(await call<Recovery>('DELETE', `recoveries/${name}`)),
    );
    if (!stopped) return;
    announce(t('recovery.stopped'));
    toPart('passkeys');
  };
  return (
    <section class="notice bad" aria-labelledby="recovery" data-recovery={name}>
      <h2 id="recovery" tabIndex={-1}>
        {t('recovery.title')}
      </h2>
      <p>
        {format(status.startedBy === 'Operator' ? 'recovery.operator' : 'recovery.person', {
          when: <Moment of={status.startedTimestamp} />,
          browser: <bdi>{status.startedFrom ?? t('sessions.unknown')}</bdi>,
        })}{' '}
        {format('recovery.what', { when: <Moment of={status.readyTimestamp} /> })}
      </p>
      <p>{t('recovery.keep')}</p>
      <Fault failure={failure} />
      <Button look="main" busy={busy} progress="confirm.progress" press={() => void stop()}>
        {t('recovery.stop')}
      </Button>
    </section>
  );
}

/** The way back in for someone who lost all passkeys. */
export function LostPasskeys({
  recoveries,
  resumed,
}: {
  recoveries: Kept<Recovery>;
  resumed: string | undefined;
}) {
  const [asking, setAsking] = useState(resumed === step);
  const act = useAct();
  const start = async (): Promise<void> => {
    const started = await act.run(
      async () => recoveries.put(await call<Recovery>('POST', 'accounts/~/recovery', { spec: {} })),
      step,
    );
    if (!started) return;
    clearStep();
    setAsking(false);
    announce(t('recovery.started'));
    toPart('recovery');
  };
  if (waitingOf(recoveries)) return null;
  if (!asking)
    return (
      <Button look="small" press={() => setAsking(true)}>
        {t('recovery.lost')}
      </Button>
    );
  return (
    <Confirm
      act={act}
      confirm={start}
      keep={() => {
        act.clear();
        clearStep();
        setAsking(false);
        toPart('passkeys');
      }}
    >
      <p>{t('recovery.ask')}</p>
      <p>{t('recovery.wait')}</p>
    </Confirm>
  );
}
