import { useMemo, useState } from 'preact/hooks';
import { call } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { RequestError } from '../base/request-error.js';
import { useLanguage } from '../base/text/use-language.js';
import { useRequest } from '../base/api/use-request.js';
import { View } from '../base/view.js';

/** The recovery that the link of a mail names, and its token. */
interface RecoveryLink {
  readonly name: string;
  readonly token: string;
}

/** Reads the link and removes its single-use token from the address. */
function readLink(): RecoveryLink | undefined {
  const [, name, token] = /^#([a-z0-9-]{1,253})\.([A-Za-z0-9_-]{43})$/.exec(location.hash) ?? [];
  if (location.hash) history.replaceState(null, '', location.pathname);
  return name && token ? { name, token } : undefined;
}

type Ending = 'done' | 'over' | 'bad';

/** The result, and a link to the account. */
function Ended({ ending }: { ending: Ending }) {
  return (
    <View key={ending} title={`stop.${ending}.title`} phase="recovery" error={ending === 'bad'}>
      <p class="lead">{t(`stop.${ending}.what`)}</p>
      <p>
        <a class="button" href="/account">
          {t('stop.account')}
        </a>
      </p>
    </View>
  );
}

/** The button that stops the recovery, or the result. */
function StopView({
  ending,
  busy,
  stop,
}: {
  ending: Ending | undefined;
  busy: boolean;
  stop: () => void;
}) {
  if (ending) return <Ended ending={ending} />;
  return (
    <View key="stop" title="stop.title" phase="recovery">
      <p class="lead">{t('stop.what')}</p>
      <Button variant="main" busy={busy} progress="stop.going" onPress={stop}>
        {t('stop.go')}
      </Button>
      <p class="fine">{t('stop.note')}</p>
    </View>
  );
}

/**
 * Stops the removal of an account's passkeys from the link of a mail, with one button and without a
 * sign-in.
 */
export function RecoveryPage() {
  const link = useMemo(readLink, []);
  const [ending, setEnding] = useState<Ending | undefined>(link ? undefined : 'bad');
  const { isLoaded, redraw } = useLanguage();
  const { busy, failure, run } = useRequest(({ code }) => {
    const isOver = code === 404 || code === 409;
    if (isOver) setEnding('over');
    return isOver;
  });
  const stop = async (): Promise<void> => {
    const path = `recoveries/${link!.name}/cancel`;
    if (await run(() => call('POST', path, { spec: { token: link!.token } }))) setEnding('done');
  };
  return (
    <Page alert={failure && <RequestError failure={failure} />} onLanguageChange={redraw}>
      {isLoaded ? (
        <StopView ending={ending} busy={busy} stop={() => void stop()} />
      ) : (
        <h1 class="waiting" aria-busy="true">
          {t('working')}
        </h1>
      )}
    </Page>
  );
}
