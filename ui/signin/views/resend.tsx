import { useEffect, useRef, useState } from 'preact/hooks';
import type { EmailChallenge } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { Button } from '../../base/button.js';
import { now, certainWaitMs } from '../../base/api/clock.js';
import { relativeTime, t, format } from '../../base/text/message.js';
import { useRemaining } from '../../base/api/use-remaining.js';
import type { SignInStore } from '../store/sign-in-store.js';

/**
 * Returns the milliseconds until a new code may be requested, by the challenge or the response to
 * the last attempt. There is no wait after the last wrong code; the response says so before the
 * watch brings the changed challenge.
 */
function useResendWait(store: SignInStore, challenge: EmailChallenge): number {
  const [wait, setWait] = useState('');
  const seconds =
    store.problem?.action === 'emailchallenge'
      ? store.problem.failure.details.retryAfterSeconds
      : undefined;
  useEffect(() => {
    if (seconds) setWait(new Date(now() + seconds * 1000).toISOString());
  }, [store.problem]);
  const outOfTries = store.problem?.failure.details.triesLeft === 0;
  const after = outOfTries ? '' : challenge.resendAfterTimestamp;
  const later = [after, wait].sort((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0))[1];
  return useRemaining(later);
}

/**
 * Requests a new code. Shows the remaining wait and announces its end once. Takes the focus if
 * nothing else can be done.
 */
export function Resend({
  store,
  challenge,
  wanted: takesFocus,
}: {
  store: SignInStore;
  challenge: EmailChallenge;
  wanted: boolean;
}) {
  const left = useResendWait(store, challenge);
  const waited = useRef(false);
  const { challengeKey } = store;
  const first = useRef(challengeKey);
  useEffect(() => {
    if (left === 0 && waited.current) announce(t('code.resend.ready'));
    waited.current = left > 0;
  }, [left === 0]);
  useEffect(() => {
    const isSent = store.interaction!.status.emailChallenge !== undefined; // not after a sign-in
    if (isSent && challengeKey !== first.current) announce(t('code.resent'));
    first.current = challengeKey;
  }, [challengeKey]);
  useEffect(() => {
    if (takesFocus) document.getElementById('resend')?.focus();
  }, [takesFocus]);
  return (
    <div class="resend">
      <Button
        id="resend"
        disabled={left > 0}
        describedBy={left ? 'resend-wait' : undefined}
        busy={store.busy === 'emailchallenge'}
        progress="email.sending"
        onPress={() => void store.act('emailchallenge', { spec: { email: challenge.email } })}
      >
        {t('code.resend')}
      </Button>
      {left > 0 && (
        <span class="hint" id="resend-wait">
          {format('code.resend.wait', { when: relativeTime(certainWaitMs(left)) })}
        </span>
      )}
    </div>
  );
}
