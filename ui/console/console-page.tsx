import type { ComponentChildren, ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Account, Session } from '../api.js';
import { call } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { errorText } from '../base/error-page.js';
import { FirstLoad } from '../base/first-load.js';
import { AppPage } from '../base/frame/app-page.js';
import { Icon } from '../base/frame/icon.js';
import { loadLocale } from '../base/text/i18n.js';
import { Lazy } from '../base/api/lazy.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { signIn } from '../base/passkeys/sign-in.js';
import { useFirstRead } from '../base/api/use-first-read.js';
import { useRead } from '../base/api/use-read.js';
import { View } from '../base/view.js';
import { Chunk } from './base/chunk.js';
import {
  CurrentConsole,
  CurrentDocument,
  useConsole,
  type ConsoleContext,
} from './base/console-context.js';
import { CommandButton } from './command/command-button.js';
import { DetailView } from './objects/detail-view.js';
import { kindOf, readKinds, readListed, readOpenAPI } from './base/discovery.js';
import { Frame } from './base/frame.js';
import type { Kind } from './base/kind.js';
import { Rail } from './base/rail.js';
import { useRequest } from './base/use-request.js';
import { ListView } from './objects/list-view.js';
import { AllKinds } from './overview/all-kinds.js';
import { Overview } from './overview/overview.js';
import { currentStep, pathTo, readArrival, useRoute, type Part, type Route } from './base/route.js';

/** Shown after a cancelled or refused sign-in. */
function Visitor() {
  return (
    <View title="console.visitor.title" phase="console">
      <p class="lead">{t('console.visitor.what')}</p>
      <Button variant="main" onPress={() => signIn({ step: currentStep() })}>
        {t('console.signin')}
      </Button>
    </View>
  );
}

const Absent = () => (
  <Frame title="console.absent.title" error>
    <p class="lead">{t('console.absent.what')}</p>
    <p>
      <a href={pathTo()}>{t('console.title')}</a>
    </p>
  </Frame>
);

/** A part that is made for one kind. */
interface PartProps {
  readonly kind: Kind;
  readonly name: string;
  readonly query: URLSearchParams;
}

const editChunk = new Lazy(() => import('./objects/edit-parts.js'));
const groupChunk = new Lazy(() => import('./groups/group-view.js'));
const policyChunk = new Lazy(() => import('./policy/policy-parts.js'));

/** The kinds that one must be able to list, and the views. */
const partKinds: Record<Part, string> = {
  people: 'Account',
  apps: 'Client',
  policy: 'Policy',
  decisions: 'PolicyDecision',
  activity: 'PolicyDecision',
  mail: 'HourlyCount',
  appearance: 'Appearance',
  settings: 'Settings',
};
const partViews: Record<Part, Lazy<{ readonly View: ComponentType<PartProps> }>> = {
  appearance: new Lazy(() =>
    import('./appearance/appearance-view.js').then(({ AppearanceView: View }) => ({ View })),
  ),
  mail: new Lazy(() => import('./mail/mail-view.js').then(({ MailView: View }) => ({ View }))),
  settings: new Lazy(() =>
    import('./settings/settings-view.js').then(({ SettingsView: View }) => ({ View })),
  ),
  apps: new Lazy(() => import('./apps/apps-view.js').then(({ AppsView: View }) => ({ View }))),
  policy: new Lazy(() => policyChunk.load().then(({ PolicyPart: View }) => ({ View }))),
  decisions: new Lazy(() => policyChunk.load().then(({ DecisionsPart: View }) => ({ View }))),
  activity: new Lazy(() =>
    import('./activity/activity-view.js').then(({ ActivityView: View }) => ({ View })),
  ),
  people: new Lazy(() =>
    import('./people/people-view.js').then(({ PeopleView: View }) => ({ View })),
  ),
};

const isPart = (view: Route['view']): view is Part => Object.hasOwn(partKinds, view);

/** Reads the schemas of all kinds first, which views of any kind are drawn from. */
function Documented({ children }: { children: ComponentChildren }) {
  const { kinds } = useConsole();
  const { value, failure, reload } = useRead(() => readOpenAPI(kinds[0]!), []);
  if (!value) return <FirstLoad loading="working" failure={failure} retry={reload} />;
  return <CurrentDocument.Provider value={value}>{children}</CurrentDocument.Provider>;
}

/** A view of a kind that is made from its schema. */
function KindView({ kind, route: { view, name, query } }: { kind: Kind; route: Route }) {
  if (view === 'list') return <ListView kind={kind} query={query} />;
  if (kind.kind === 'Group' && view === 'object' && !query.has('view')) {
    const show = ({ GroupView }: typeof import('./groups/group-view.js')) => (
      <GroupView kind={kind} name={name} query={query} />
    );
    return <Chunk of={groupChunk} show={show} />;
  }
  if (view === 'object') return <DetailView kind={kind} name={name} query={query} />;
  return (
    <Chunk
      of={editChunk}
      show={({ NewView, EditView, DeleteView }) => {
        if (view === 'new') return <NewView kind={kind} query={query} />;
        const View = view === 'edit' ? EditView : DeleteView;
        return <View kind={kind} name={name} />;
      }}
    />
  );
}

/** The part of the console that the address names. */
function RoutedView() {
  const { kinds, listed } = useConsole();
  const route = useRoute();
  const { view, resource, name, query } = route;
  const key = `${view} ${resource} ${name}`;
  const kind = kinds.find((known) => known.resource === resource);
  if (view === 'overview') return <Overview key={key} />;
  if (isPart(view)) {
    const main = kindOf(listed, partKinds[view]);
    if (!main) return <Absent key={key} />;
    return (
      <Chunk
        key={key}
        of={partViews[view]}
        show={({ View }) => <View kind={main} name={name} query={query} />}
      />
    );
  }
  if (view !== 'kinds' && (!kind || view === 'absent')) return <Absent key={key} />;
  return (
    <Documented key="kinds">
      {kind ? <KindView key={key} kind={kind} route={route} /> : <AllKinds />}
    </Documented>
  );
}

/** Reads what all views need: who asks, the kinds, and which of them they may list. */
async function readConsole(): Promise<ConsoleContext> {
  const [account, kinds] = await Promise.all([call<Account>('GET', 'accounts/~'), readKinds()]);
  const [, listed] = await Promise.all([loadLocale([], account.spec.locale), readListed(kinds)]);
  const person = { name: account.spec.displayName ?? '', address: account.status.email.address };
  return { account: account.metadata.name, person, kinds, listed };
}

/** Ends the session of this browser, and leaves the console. */
async function signOut(): Promise<void> {
  const { items } = await call<{ items: Session[] }>('GET', 'sessions');
  const own = items.find(({ status }) => status.current);
  if (own) await call('DELETE', `sessions/${own.metadata.name}`);
  location.assign(pathTo());
}

function Menu() {
  const { busy, failure, run } = useRequest();
  return (
    <>
      <a class="button" href="/account">
        <Icon of="circle-user" />
        {t('console.account')}
      </a>
      <Button busy={busy} onPress={() => void run(signOut)}>
        <Icon of="log-out" />
        {t('console.signout')}
      </Button>
      {failure && <p class="error">{errorText(failure)}</p>}
    </>
  );
}

/** The console: every kind of the API that policy lets the caller see. */
export function ConsolePage() {
  const isRefused = useMemo(readArrival, []);
  const {
    value: context,
    failure,
    retry,
    redraw,
  } = useFirstRead(readConsole, isRefused ? undefined : () => signIn({ step: currentStep() }));
  if (failure?.code === 401) {
    return (
      <Page onLanguageChange={redraw}>
        <Visitor />
      </Page>
    );
  }
  const page = (
    <AppPage
      home={pathTo()}
      search={context && <CommandButton />}
      rail={context && <Rail />}
      railLabel={t('console.title')}
      person={context?.person}
      menu={<Menu />}
      onLanguageChange={redraw}
    >
      {context ? <RoutedView /> : <FirstLoad loading="working" failure={failure} retry={retry} />}
    </AppPage>
  );
  return <CurrentConsole.Provider value={context}>{page}</CurrentConsole.Provider>;
}
