import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { loadLocale } from '../base/text/i18n.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { RequestError } from '../base/request-error.js';
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

/** Leaves for an ordinary sign-in that returns to this page. */
function signIn(): void {
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${location.origin}/invitation`,
  });
  location.assign(`/oauth2/auth?${query}`);
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
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [renderCount, render] = useState(0);
  const end = (how: Ending): void => {
    inStorage((storage) => storage.removeItem(storageKey));
    setEnding(how);
  };
  const accept = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await call('POST', `invitations/${name}/accept`, { spec: { token } });
      end('done');
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (thrown.code === 401) return signIn();
      if (thrown.code === 404 || thrown.code === 409) end('over');
      else setFailure(thrown);
    }
    setBusy(false);
  };
  useEffect(() => {
    void loadLocale().then(() => {
      render(1);
      if (signedIn && token) void accept();
    });
  }, []);
  return (
    <Page
      alert={failure && <RequestError failure={failure} />}
      onLanguageChange={() => render((count) => count + 1)}
    >
      {renderCount === 0 ? (
        <h1 class="waiting" aria-busy="true">
          {t('working')}
        </h1>
      ) : (
        <Offering ending={ending} busy={busy} accept={() => void accept()} />
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
