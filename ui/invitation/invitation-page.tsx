import { useMemo, useState } from 'preact/hooks';
import { call } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { RequestError } from '../base/request-error.js';
import { signIn } from '../base/passkeys/sign-in.js';
import { useLanguage } from '../base/text/use-language.js';
import { useRequest } from '../base/api/use-request.js';
import { View } from '../base/view.js';

const wellFormed = /^([a-z0-9-]{1,253})\.([A-Za-z0-9_-]{43})$/;
/** Where the link is while the person signs in: in this tab only. */
const storageKey = 'invitation';

/** Uses the storage of this tab; undefined where the browser refuses it, with the cookies. */
function inStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

/** Reads the link, and removes it and the result of a sign-in from the address. */
function readArrival(): { link: string | undefined; signedIn: boolean } {
  const given = location.hash.slice(1);
  if (wellFormed.test(given)) inStorage((storage) => storage.setItem(storageKey, given));
  const signedIn = new URLSearchParams(location.search).has('iss');
  if (location.hash || location.search) history.replaceState(null, '', location.pathname);
  const stored = (): string | null | undefined =>
    inStorage((storage) => storage.getItem(storageKey));
  return { link: given || (stored() ?? undefined), signedIn };
}

type Ending = 'done' | 'over' | 'bad';

/** The result, and the ways on: the console for an operator, and the account. */
function Ended({ ending }: { ending: Ending }) {
  return (
    <View key={ending} title={`first.${ending}.title`} phase="invitation" error={ending !== 'done'}>
      <p class="lead">{t(`first.${ending}.what`)}</p>
      <p class="pair">
        {ending === 'done' && (
          <a class="button" href="/console">
            {t('first.console')}
          </a>
        )}
        <a class="button" href="/account">
          {t('first.account')}
        </a>
      </p>
    </View>
  );
}

function Offer({ busy, accept }: { busy: boolean; accept: () => void }) {
  return (
    <View key="first" title="first.title" phase="invitation">
      <p class="lead">{t('first.what')}</p>
      <Button variant="main" busy={busy} progress="first.going" onPress={accept}>
        {t('first.go')}
      </Button>
    </View>
  );
}

/** Makes the person the first operator, from the link on the console, after an ordinary sign-in. */
export function InvitationPage() {
  const { link, signedIn } = useMemo(readArrival, []);
  const [, name, token] = wellFormed.exec(link ?? '') ?? [];
  const [ending, setEnding] = useState<Ending | undefined>(token ? undefined : 'bad');
  const end = (how: Ending): void => {
    inStorage((storage) => storage.removeItem(storageKey));
    setEnding(how);
  };
  const { busy, failure, run } = useRequest(({ code }) => {
    if (code === 401) {
      signIn();
    } else if (code === 404 || code === 409) {
      end('over');
    } else {
      return false;
    }
    return true;
  });
  const accept = async (): Promise<void> => {
    const path = `invitations/${name}/accept`;
    if (await run(() => call('POST', path, { spec: { token } }))) end('done');
  };
  const { isLoaded, redraw } = useLanguage(() => {
    if (signedIn && token) void accept();
  });
  return (
    <Page alert={failure && <RequestError failure={failure} />} onLanguageChange={redraw}>
      {isLoaded ? (
        <Offering ending={ending} busy={busy} accept={() => void accept()} />
      ) : (
        <h1 class="waiting" aria-busy="true">
          {t('working')}
        </h1>
      )}
    </Page>
  );
}

/** The button, or the result. */
function Offering({
  ending,
  ...offer
}: {
  ending: Ending | undefined;
  busy: boolean;
  accept: () => void;
}) {
  return ending ? <Ended ending={ending} /> : <Offer {...offer} />;
}
