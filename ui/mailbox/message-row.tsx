import type { MockMessage } from '../api.js';
import { inGroups } from '../base/passkeys/code.js';
import { Link } from '../base/link.js';
import { truncate, clockTime, Ltr, t, format } from '../base/text/message.js';

/** One message: its code and link first, its text below. */
export function MessageRow({ message: { status } }: { message: MockMessage }) {
  return (
    <li class="mail">
      <h2>
        <bdi>{truncate(status.subject)}</bdi>
      </h2>
      <p class="hint">
        {format('mailbox.to', { address: <Ltr of={status.to} /> })} ·{' '}
        <time dateTime={status.sentTimestamp}>{clockTime(status.sentTimestamp)}</time>
      </p>
      {(status.code || status.link) && (
        <p class="found">
          {status.code && (
            <span class="digits">
              <span class="quiet">{t('mailbox.code')} </span>
              <Ltr of={inGroups(status.code, status.code.length)} />
            </span>
          )}
          {status.link && (
            <Link to={status.link} look="button">
              {t('mailbox.link')}
            </Link>
          )}
        </p>
      )}
      <details>
        <summary>{t('mailbox.text')}</summary>
        <pre dir="auto">{truncate(status.text, 10_000)}</pre>
      </details>
    </li>
  );
}
