import type { MockMessage } from '../api.js';
import { announce } from '../base/live-region.js';
import { call, type ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { ignoredMs, useClickGuard } from '../base/click-guard.js';
import { useCollection } from '../base/api/collection.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { errorText, ErrorView } from '../base/error-page.js';
import { FirstLoad } from '../base/first-load.js';
import { useLanguage } from '../base/text/use-language.js';
import { useRequest } from '../base/api/use-request.js';
import { View } from '../base/view.js';
import { MessageRow } from './message-row.js';

const newestFirst = (messages: readonly MockMessage[]): MockMessage[] =>
  [...messages].sort(
    (a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
  );

interface MessagesProps {
  items: readonly MockMessage[];
  busy: boolean;
  empty: () => void;
}

function Messages({ items, busy, empty }: MessagesProps) {
  const ready = useClickGuard(items.length > 0);
  return (
    <View title="mailbox.title" phase="mailbox" delayMs={ignoredMs}>
      <p class="notice warn">{t('mailbox.mocked')}</p>
      {items.length === 0 && <p class="lead">{t('mailbox.none')}</p>}
      <ul class="mails" aria-label={t('mailbox.list')}>
        {newestFirst(items).map((message) => (
          <MessageRow key={message.metadata.name} message={message} />
        ))}
      </ul>
      <Button
        disabled={items.length === 0}
        busy={busy}
        progress="mailbox.emptying"
        onPress={() => {
          if (ready()) empty();
        }}
      >
        {t('mailbox.empty')}
      </Button>
    </View>
  );
}

/** Shown while there is no list: the error, or that it is loading. */
function WithoutList({ failure, retry }: { failure: ApiError | undefined; retry: () => void }) {
  if (failure?.code === 404) {
    return <ErrorView title="mailbox.absent.title" what="mailbox.absent.what" failure={failure} />;
  }
  return <FirstLoad loading="working" failure={failure} retry={retry} />;
}

/** The messages of the mock mailbox, newest first, kept up to date by a watch. */
export function Mailbox() {
  const { isLoaded, redraw } = useLanguage();
  const { items, failure, reload } = useCollection<MockMessage>(
    isLoaded ? 'mockmessages' : undefined,
  );
  const request = useRequest();
  const empty = async (): Promise<void> => {
    if (await request.run(() => call('DELETE', 'mockmessages'))) announce(t('mailbox.emptied'));
    reload();
  };
  const alert = request.failure ?? failure;
  return (
    <Page wide alert={items && alert && errorText(alert)} onLanguageChange={redraw}>
      {items ? (
        <Messages items={items} busy={request.busy} empty={() => void empty()} />
      ) : (
        <WithoutList failure={failure} retry={reload} />
      )}
    </Page>
  );
}
