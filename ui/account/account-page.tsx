import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Account } from '../api.js';
import { call, ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { loadLocale } from '../base/text/i18n.js';
import { Ltr, t, format } from '../base/text/message.js';
import { AppPage } from '../base/frame/app-page.js';
import { Icon } from '../base/frame/icon.js';
import { Page } from '../base/page.js';
import { FirstLoad } from '../base/first-load.js';
import { useFirstRead } from '../base/api/use-first-read.js';
import { View } from '../base/view.js';
import { useNames } from '../decisions/names.js';
import { AccountView, ConsoleLink } from './account-view.js';
import { useIsLiveTab } from './base/live-tab.js';
import { CurrentAccount, useAccountContext, type Ending } from './base/account-context.js';
import { SectionRail } from './base/section-rail.js';
import type { SectionID } from './base/section.js';
import { signalPasskeys } from './base/signal.js';
import { signIn } from '../base/passkeys/sign-in.js';
import { ActionError, useAction } from './base/use-action.js';
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

interface FramedProps {
  alert: string | undefined;
  redraw: () => void;
}

/** The account in its frame: the sections as a rail, and the way to sign this browser out. */
function Framed({ alert, redraw }: FramedProps) {
  const { account, leave } = useAccountContext();
  const { busy, failure, run } = useAction();
  const [absent, setAbsent] = useState<readonly SectionID[]>(['apps', 'groups']);
  const signOut = async (): Promise<void> => {
    if (await run(() => call('DELETE', 'sessions/~'))) leave('signedout');
  };
  const address = account.status.email.address;
  return (
    <AppPage
      home="/account"
      rail={<SectionRail absent={absent} />}
      railLabel={t('account.sections')}
      person={{ name: account.spec.displayName ?? '', address }}
      menu={<ConsoleLink />}
      action={
        <Button busy={busy} onPress={() => void signOut()}>
          <Icon of="log-out" />
          <span>{t('account.signout')}</span>
        </Button>
      }
      alert={alert}
      onLanguageChange={redraw}
    >
      <AccountView setAbsent={setAbsent}>
        <ActionError failure={failure} />
      </AccountView>
    </AppPage>
  );
}

interface SignedInProps {
  initial: Account;
  arrived: Arrival;
  redraw: () => void;
}

/** The account that is signed in, or how that ended. */
function SignedInPage({ initial, arrived, redraw }: SignedInProps) {
  const [account, setAccount] = useState(initial);
  const [alert, announceError] = useState<string>();
  const [ended, setEnded] = useState<{ ending: Ending; step: string | undefined }>();
  const isLive = useIsLiveTab();
  const names = useNames(initial.metadata.name);
  const leave = (ending: Ending, step?: string): void =>
    setEnded((first) => first ?? { ending, step });
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
  if (ended) {
    return (
      <Page onLanguageChange={redraw}>
        <Ended {...ended} account={account} />
      </Page>
    );
  }
  return (
    <CurrentAccount.Provider value={context}>
      <Framed alert={alert} redraw={redraw} />
    </CurrentAccount.Provider>
  );
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
  if (account) return <SignedInPage initial={account} arrived={arrived} redraw={redraw} />;
  if (failure) {
    return (
      <Page onLanguageChange={redraw}>
        {failure.code === 401 ? (
          <Visitor />
        ) : (
          <FirstLoad loading="account.loading" failure={failure} retry={retry} />
        )}
      </Page>
    );
  }
  return (
    <AppPage home="/account" railLabel={t('account.sections')} onLanguageChange={redraw}>
      <FirstLoad loading="account.loading" failure={failure} retry={retry} />
    </AppPage>
  );
}
