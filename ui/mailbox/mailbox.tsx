import { useEffect, useState } from 'preact/hooks';
import type { MockMessage, MockMessageList } from '../api.js';
import { announce } from '../base/live-region.js';
import { call, ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { ignoredMs, useClickGuard } from '../base/click-guard.js';
import { loadLocale } from '../base/text/i18n.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { errorText, ErrorView } from '../base/error-page.js';
import { FirstLoad } from '../base/first-load.js';
import { View } from '../base/view.js';
import { watch } from '../base/api/watch.js';
import { MessageRow } from './message-row.js';

const newestFirst = (messages: readonly MockMessage[]): MockMessage[] =>
  [...messages].sort(
    (a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
  );

function Messages({
  list,
  busy,
  empty,
}: {
  list: MockMessageList;
  busy: boolean;
  empty: () => void;
}) {
  const ready = useClickGuard(list.items.length > 0);
  return (
    <View title="mailbox.title" phase="mailbox" delayMs={ignoredMs}>
      <p class="notice warn">{t('mailbox.mocked')}</p>
      {list.items.length === 0 && <p class="lead">{t('mailbox.none')}</p>}
      <ul class="mails" aria-label={t('mailbox.list')}>
        {newestFirst(list.items).map((message) => (
          <MessageRow key={message.metadata.name} message={message} />
        ))}
      </ul>
      <Button
        disabled={list.items.length === 0}
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
  if (failure?.code === 404)
    return <ErrorView title="mailbox.absent.title" what="mailbox.absent.what" failure={failure} />;
  return <FirstLoad loading="working" failure={failure} retry={retry} />;
}

/** The messages of the mock mailbox, newest first, kept up to date by a watch. */
export function Mailbox() {
  const [list, setList] = useState<MockMessageList>();
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [, render] = useState(0);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      setFailure(undefined);
    } catch (thrown) {
      if (thrown instanceof ApiError) setFailure(thrown);
      else throw thrown;
    }
  };
  const read = async (): Promise<string | undefined> => {
    let version: string | undefined;
    await attempt(async () => {
      const next = await call<MockMessageList>('GET', 'mockmessages');
      version = next.metadata.resourceVersion;
      setList(next);
    });
    return version;
  };
  const empty = async (): Promise<void> => {
    setBusy(true);
    await attempt(async () => {
      await call('DELETE', 'mockmessages');
      announce(t('mailbox.emptied'));
    });
    await read();
    setBusy(false);
  };
  useEffect(() => {
    void loadLocale().then(read);
  }, []);
  const version = list?.metadata.resourceVersion;
  useEffect(
    () => (version === undefined ? undefined : watch('mockmessages', version, read)),
    [version === undefined],
  );
  return (
    <Page
      wide
      alert={list && failure && errorText(failure)}
      onLanguageChange={() => render((count) => count + 1)}
    >
      {list ? (
        <Messages list={list} busy={busy} empty={() => void empty()} />
      ) : (
        <WithoutList failure={failure} retry={() => void read()} />
      )}
    </Page>
  );
}
