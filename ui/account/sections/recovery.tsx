import { useEffect, useState } from 'preact/hooks';
import type { Recovery } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import type { LiveCollection } from '../../base/api/collection.js';
import { t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { ActionError, useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { browserName } from './device-name.js';
import { focusSection } from '../base/section.js';
import { clearStep } from '../base/redirects.js';

const step = 'recover';

/** Returns the recovery in phase Waiting, if there is one. */
export const pendingRecovery = ({ items }: LiveCollection<Recovery>): Recovery | undefined =>
  items?.find(({ status }) => status.phase === 'Waiting');

/**
 * Warns in every signed-in browser that the passkeys will be removed, with the button that stops
 * it.
 */
export function RecoveryNotice({ recoveries }: { recoveries: LiveCollection<Recovery> }) {
  const pending = pendingRecovery(recoveries);
  const { busy, failure, run } = useAction();
  useEffect(() => {
    if (pending) announce(t('recovery.title'));
  }, [pending?.metadata.name]);
  if (!pending) return null;
  const {
    metadata: { name },
    status,
  } = pending;
  const stop = async (): Promise<void> => {
    const stopped = await run(async () =>
      recoveries.upsert(await call<Recovery>('DELETE', `recoveries/${name}`)),
    );
    if (!stopped) return;
    announce(t('recovery.stopped'));
    focusSection('passkeys');
  };
  return (
    <section class="notice bad" aria-labelledby="recovery" data-recovery={name}>
      <h2 id="recovery" tabIndex={-1}>
        {t('recovery.title')}
      </h2>
      <p>
        {format(status.startedBy === 'Operator' ? 'recovery.operator' : 'recovery.person', {
          when: <Timestamp of={status.startedTimestamp} />,
          browser: <bdi>{browserName(status.startedFrom)}</bdi>,
        })}{' '}
        {format('recovery.what', { when: <Timestamp of={status.readyTimestamp} /> })}
      </p>
      <p>{t('recovery.keep')}</p>
      <ActionError failure={failure} />
      <Button variant="main" busy={busy} progress="confirm.progress" onPress={() => void stop()}>
        {t('recovery.stop')}
      </Button>
    </section>
  );
}

/** Starts a recovery for someone who lost all passkeys. */
export function LostPasskeys({
  recoveries,
  resumed,
}: {
  recoveries: LiveCollection<Recovery>;
  resumed: string | undefined;
}) {
  const [asking, setAsking] = useState(resumed === step);
  const act = useAction();
  const start = async (): Promise<void> => {
    const started = await act.run(
      async () =>
        recoveries.upsert(await call<Recovery>('POST', 'accounts/~/recovery', { spec: {} })),
      step,
    );
    if (!started) return;
    clearStep();
    setAsking(false);
    announce(t('recovery.started'));
    focusSection('recovery');
  };
  if (pendingRecovery(recoveries)) return null;
  if (!asking) {
    return (
      <Button variant="small" onPress={() => setAsking(true)}>
        {t('recovery.lost')}
      </Button>
    );
  }
  return (
    <Confirm
      action={act}
      onConfirm={start}
      onCancel={() => {
        act.clear();
        clearStep();
        setAsking(false);
        focusSection('passkeys');
      }}
    >
      <p>{t('recovery.ask')}</p>
      <p>{t('recovery.wait')}</p>
    </Confirm>
  );
}
