import { useEffect, useState } from 'preact/hooks';
import type { APIResourceList } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Link } from '../../base/link.js';
import { t } from '../../base/text/message.js';

/** Links to the mock mailbox if discovery lists one. Requested after the page is usable. */
export function MailboxLink() {
  const [mocked, setMocked] = useState(false);
  useEffect(() => {
    const listed = ({ resources }: APIResourceList): void =>
      setMocked(resources.some(({ name }) => name === 'mockmessages'));
    call<APIResourceList>('GET', '').then(listed, () => undefined);
  }, []);
  return mocked ? (
    <p class="notice">
      <Link to="/mailbox" tab>
        {t('code.mailbox')}
      </Link>
    </p>
  ) : null;
}
