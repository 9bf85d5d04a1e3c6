import type { ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Account } from '../api.js';
import { call } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { FirstLoad } from '../base/first-load.js';
import { loadLocale } from '../base/text/i18n.js';
import { Lazy } from '../base/api/lazy.js';
import { t } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { signIn } from '../base/passkeys/sign-in.js';
import { useFirstRead } from '../base/api/use-first-read.js';
import { View } from '../base/view.js';
import { Chunk } from './base/chunk.js';
import { CurrentConsole, useConsole, type ConsoleContext } from './base/console-context.js';
import { DetailView } from './objects/detail-view.js';
import { isAllowed, kindOf, readKinds, readOpenAPI } from './base/discovery.js';
import { Frame } from './base/frame.js';
import type { Kind } from './base/kind.js';
import { ListView } from './objects/list-view.js';
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
const policyChunk = new Lazy(() => import('./policy/policy-parts.js'));

/** The kinds that one must be able to list, and the views. */
const partKinds: Record<Part, string> = {
  people: 'Account',
  apps: 'Client',
  policy: 'Policy',
  decisions: 'PolicyDecision',
  settings: 'Replica',
};
const partViews: Record<Part, Lazy<{ readonly View: ComponentType<PartProps> }>> = {
  settings: new Lazy(() =>
    import('./settings/settings-view.js').then(({ SettingsView: View }) => ({ View })),
  ),
  apps: new Lazy(() => import('./apps/apps-view.js').then(({ AppsView: View }) => ({ View }))),
  policy: new Lazy(() => policyChunk.load().then(({ PolicyPart: View }) => ({ View }))),
  decisions: new Lazy(() => policyChunk.load().then(({ DecisionsPart: View }) => ({ View }))),
  people: new Lazy(() =>
    import('./people/people-view.js').then(({ PeopleView: View }) => ({ View })),
  ),
};

const isPart = (view: Route['view']): view is Part => Object.hasOwn(partKinds, view);

/** The part of the console that the address names. */
function RoutedView() {
  const { kinds, listed } = useConsole();
  const { view, resource, name, query } = useRoute();
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
  if (!kind || view === 'absent') return <Absent key={key} />;
  if (view === 'list') return <ListView key={key} kind={kind} query={query} />;
  if (view === 'new' || view === 'edit' || view === 'delete') {
    return (
      <Chunk
        key={key}
        of={editChunk}
        show={({ NewView, EditView, DeleteView }) => {
          if (view === 'new') return <NewView kind={kind} query={query} />;
          const View = view === 'edit' ? EditView : DeleteView;
          return <View kind={kind} name={name} />;
        }}
      />
    );
  }
  return <DetailView key={key} kind={kind} name={name} query={query} />;
}

/** Reads what all views need: who asks, the kinds, which of them they may list, and the schemas. */
async function readConsole(): Promise<ConsoleContext> {
  const [account, kinds] = await Promise.all([call<Account>('GET', 'accounts/~'), readKinds()]);
  const [, document, allowed] = await Promise.all([
    loadLocale([], account.spec.locale),
    readOpenAPI(kinds[0]!),
    Promise.all(kinds.map((kind) => isAllowed(kind, 'list'))),
  ]);
  const listed = kinds.filter((_, i) => allowed[i]);
  return { account: account.metadata.name, kinds, listed, document };
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
  const isVisitor = failure?.code === 401;
  return (
    <Page
      wide={!isVisitor}
      onLanguageChange={redraw}
      footer={
        context && (
          <p>
            <a href="/account">{t('console.account')}</a>
          </p>
        )
      }
    >
      {context && (
        <CurrentConsole.Provider value={context}>
          <RoutedView />
        </CurrentConsole.Provider>
      )}
      {isVisitor && <Visitor />}
      {!context && !isVisitor && <FirstLoad loading="working" failure={failure} retry={retry} />}
    </Page>
  );
}
