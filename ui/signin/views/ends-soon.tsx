import { useEffect } from 'preact/hooks';
import { Link } from '../../base/link.js';
import { announce } from '../../base/live-region.js';
import { relativeTime, t, format } from '../../base/text/message.js';
import { useRemaining } from '../../base/api/use-remaining.js';
import type { SignInStore } from '../store/sign-in-store.js';

/** The warning before the sign-in expires, with a link to start again at the app. */
export function EndsSoon({ store }: { store: SignInStore }) {
  const { client, expirationTimestamp } = store.interaction!.status;
  const left = useRemaining(expirationTimestamp);
  useEffect(() => announce(t('soon', { when: relativeTime(left) })), []); // not every second
  const to = client.initiateLoginURI ?? client.homepageURI;
  return (
    <p class="notice warn">
      {format('soon', { when: relativeTime(left) })} {to && <Link to={to}>{t('startagain')}</Link>}
    </p>
  );
}
