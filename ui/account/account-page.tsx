import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Account } from '../api.js';
import { call, ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { loadLocale } from '../base/i18n.js';
import { Latin, t, format } from '../base/message.js';
import { Page } from '../base/page.js';
import { OutOfOrder } from '../base/error-page.js';
import { View } from '../base/view.js';
import { useNames } from '../decisions/names.js';
import { AccountView } from './account-view.js';
import { useLive } from './live-tab.js';
import { Person } from './account-context.js';
import { signal } from './signal.js';
import { arrival, signIn, type Arrival } from './redirects.js';

type Ending = 'signedout' | 'deleted';

function Ended({ ending, account: { status } }: { ending: Ending; account: Account }) {
  if (ending === 'deleted') {
    return (
      <View key="deleted" title="data.deleted.title" phase="account">
        <p class="lead">
          {format('data.deleted.what', { email: <Latin of={status.email.address} strong /> })}
        </p>
        <p class="fine">{t('data.deleted.leave')}</p>
      </View>
    );
  }
  return (
    <View key="signedout" title="account.signedout.title" phase="account">
      <p class="lead">{t('account.signedout.what')}</p>
      <Button look="main" press={() => signIn()}>
        {t('account.signin')}
      </Button>
    </View>
  );
}

/** The sign-in was given up, or refused: to lead there again would be to insist. */
function Visitor() {
  return (
    <View title="account.visitor.title" phase="account">
      <p class="lead">{t('account.visitor.what')}</p>
      <Button look="main" press={() => signIn()}>
        {t('account.signin')}
      </Button>
    </View>
  );
}

interface Shown {
  first: Account;
  arrived: Arrival;
  hear: (words: string | undefined) => void;
  widen: (wide: boolean) => void;
}

function Here({ first, arrived, hear, widen }: Shown) {
  const [account, take] = useState(first);
  const [ending, setEnding] = useState<Ending>();
  const live = useLive();
  const names = useNames(first.metadata.name);
  const leave = (how: Ending): void => {
    hear(undefined);
    widen(false);
    setEnding(how);
  };
  useEffect(() => {
    if (arrived.signedIn) void signal();
  }, []);
  const fresh = useRef(live);
  useEffect(() => {
    if (live && !fresh.current)
      call<Account>('GET', 'accounts/~').then(take, (thrown: unknown) => {
        if (thrown instanceof ApiError && thrown.code === 401) signIn();
      });
    if (live) fresh.current = false;
  }, [live]);
  const me = useMemo(
    () => ({ account, take, names, live, hear, leave, step: arrived.step }),
    [account, names, live],
  );
  return (
    <Person.Provider value={me}>
      {ending ? <Ended ending={ending} account={account} /> : <AccountView />}
    </Person.Provider>
  );
}

/** What stands here while there is no account: the way in, what went wrong, or that it is loading. */
function WithoutAccount({ failure, retry }: { failure: ApiError | undefined; retry: () => void }) {
  if (failure?.code === 401) return <Visitor />;
  if (failure)
    return (
      <OutOfOrder failure={failure}>
        <Button look="main" press={retry}>
          {t('retry')}
        </Button>
      </OutOfOrder>
    );
  return (
    <h1 class="waiting" aria-busy="true">
      {t('account.loading')}
    </h1>
  );
}

/** The person's own page: what is known about them here, who sees it, and how they sign in. */
export function AccountPage() {
  const arrived = useMemo(arrival, []);
  const [account, setAccount] = useState<Account>();
  const [failure, setFailure] = useState<ApiError>();
  const [alert, hear] = useState<string>();
  const [wide, widen] = useState(true);
  const [, render] = useState(0);
  const read = async (): Promise<void> => {
    try {
      setAccount(await call<Account>('GET', 'accounts/~'));
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (thrown.code === 401 && !arrived.refused) signIn({ step: arrived.step });
      else setFailure(thrown);
    }
  };
  useEffect(() => {
    void loadLocale().then(() => {
      render(1);
      return read();
    });
  }, []);
  const retry = (): void => {
    setFailure(undefined);
    void read();
  };
  return (
    <Page
      wide={wide && Boolean(account)}
      alert={alert}
      quiet
      changed={() => render((count) => count + 1)}
    >
      {account ? (
        <Here first={account} arrived={arrived} hear={hear} widen={widen} />
      ) : (
        <WithoutAccount failure={failure} retry={retry} />
      )}
    </Page>
  );
}
