import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Account } from '../api.js';
import { call, ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { loadLocale } from '../base/text/i18n.js';
import { Ltr, t, format } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { FirstLoad } from '../base/first-load.js';
import { useFirstRead } from '../base/api/use-first-read.js';
import { View } from '../base/view.js';
import { useNames } from '../decisions/names.js';
import { AccountView } from './account-view.js';
import { useIsLiveTab } from './base/live-tab.js';
import { CurrentAccount, type Ending } from './base/account-context.js';
import { signalPasskeys } from './base/signal.js';
import { signIn } from '../base/passkeys/sign-in.js';
import { readArrival, type Arrival } from './base/redirects.js';

interface EndedProps {
  ending: Ending;
  step: string | undefined;
  account: Account;
}

function Ended({ ending, step, account: { status } }: EndedProps) {
  if (ending === 'deleted') {
    return (
      <View key="deleted" title="data.deleted.title" phase="account">
        <p class="lead">
          {format('data.deleted.what', { email: <Ltr of={status.email.address} strong /> })}
        </p>
        <p class="fine">{t('data.deleted.leave')}</p>
      </View>
    );
  }
  return (
    <View key="signedout" title="account.signedout.title" phase="account">
      <p class="lead">{t(ending === 'over' ? 'account.over.what' : 'account.signedout.what')}</p>
      <Button variant="main" onPress={() => signIn({ step })}>
        {t('account.signin')}
      </Button>
    </View>
  );
}

/** Shown after a cancelled or refused sign-in: redirecting there again would be pushy. */
function Visitor() {
  return (
    <View title="account.visitor.title" phase="account">
      <p class="lead">{t('account.visitor.what')}</p>
      <Button variant="main" onPress={() => signIn()}>
        {t('account.signin')}
      </Button>
    </View>
  );
}

interface SignedInProps {
  initial: Account;
  arrived: Arrival;
  announceError: (words: string | undefined) => void;
  setWide: (wide: boolean) => void;
}

function SignedInPage({ initial, arrived, announceError, setWide }: SignedInProps) {
  const [account, setAccount] = useState(initial);
  const [ended, setEnded] = useState<{ ending: Ending; step: string | undefined }>();
  const isLive = useIsLiveTab();
  const names = useNames(initial.metadata.name);
  const leave = (ending: Ending, step?: string): void => {
    announceError(undefined);
    setWide(false);
    setEnded((first) => first ?? { ending, step });
  };
  useEffect(() => {
    if (arrived.signedIn) void signalPasskeys();
  }, []);
  const fresh = useRef(isLive);
  useEffect(() => {
    if (isLive && !fresh.current) {
      call<Account>('GET', 'accounts/~').then(setAccount, (thrown: unknown) => {
        if (thrown instanceof ApiError && thrown.code === 401) leave('over');
      });
    }
    if (isLive) fresh.current = false;
  }, [isLive]);
  const context = useMemo(
    () => ({ account, setAccount, names, isLive, announceError, leave, step: arrived.step }),
    [account, names, isLive],
  );
  return (
    <CurrentAccount.Provider value={context}>
      {ended ? <Ended {...ended} account={account} /> : <AccountView />}
    </CurrentAccount.Provider>
  );
}

/** Shown while there is no account: a sign-in button, the error, or that it is loading. */
function WithoutAccount({ failure, retry }: { failure: ApiError | undefined; retry: () => void }) {
  if (failure?.code === 401) return <Visitor />;
  return <FirstLoad loading="account.loading" failure={failure} retry={retry} />;
}

/** Reads the account, and loads its language. */
async function readAccount(): Promise<Account> {
  const account = await call<Account>('GET', 'accounts/~');
  await loadLocale([], account.spec.locale);
  return account;
}

/** The account page: what the service stores, who receives it, and how the person signs in. */
export function AccountPage() {
  const arrived = useMemo(readArrival, []);
  const {
    value: account,
    failure,
    retry,
    redraw,
  } = useFirstRead(readAccount, arrived.refused ? undefined : () => signIn({ step: arrived.step }));
  const [alert, setAlert] = useState<string>();
  const [wide, setWide] = useState(true);
  return (
    <Page wide={wide && !failure} alert={alert} isAlertHidden onLanguageChange={redraw}>
      {account ? (
        <SignedInPage
          initial={account}
          arrived={arrived}
          announceError={setAlert}
          setWide={setWide}
        />
      ) : (
        <WithoutAccount failure={failure} retry={retry} />
      )}
    </Page>
  );
}
