import { useEffect, useRef } from 'preact/hooks';
import type { Account, Policy } from '../api.js';
import { ApiError, call } from '../base/api/api.js';
import { useCollection } from '../base/api/collection.js';
import { Lazy, useLazy } from '../base/api/lazy.js';
import { t, format } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { Status } from '../base/status.js';
import { errorText, ErrorView } from '../base/error-page.js';
import { useLanguage } from '../base/text/use-language.js';
import { useRead } from '../base/api/use-read.js';
import { FirstLoad } from '../base/first-load.js';
import { historyOf, policyNamed, type History } from './history.js';
import { OwnDecisions } from './own-decisions.js';
import { PolicyView } from './policy-view.js';
import { useRoute, type Route } from './route.js';

const comparisonChunk = new Lazy(() => import('./comparison.js'));

type Compared = Parameters<Awaited<ReturnType<typeof comparisonChunk.load>>['Comparison']>[0];

/** The comparison of two policies, in a chunk of its own. */
function LazyComparison(props: Compared) {
  const { loaded, isMissing } = useLazy(comparisonChunk);
  if (loaded) return <loaded.Comparison {...props} />;
  return (
    <FirstLoad
      loading="policy.loading"
      failure={isMissing ? new ApiError(0) : undefined}
      retry={() => location.reload()}
    />
  );
}

/** Returns the policy that came into force while this page was open. */
function useArrival({ inForce }: History): string | undefined {
  const name = inForce?.metadata.name;
  const first = useRef(name);
  useEffect(() => {
    first.current ??= name;
  }, [name]);
  return first.current !== undefined && name !== first.current ? name : undefined;
}

/**
 * Scrolls to the place in the address when it is there, and again when its link is followed again.
 */
function useScrollTo({ rule, at }: Route, shown: string): void {
  useEffect(() => {
    const go = (): void => {
      const rows =
        rule === undefined ? [] : [...document.querySelectorAll<HTMLElement>('[data-rule]')];
      const place =
        rows.find(({ dataset }) => dataset.rule === rule) ??
        (at ? document.getElementById(at) : undefined);
      place?.closest('details.group')?.setAttribute('open', '');
      place?.focus();
      place?.scrollIntoView();
    };
    const again = ({ target }: Event): void => {
      if ((target as Element).closest('a')?.hash === location.hash) go();
    };
    go();
    document.addEventListener('click', again);
    return () => document.removeEventListener('click', again);
  }, [rule, at, shown]);
}

function RoutedView({
  route,
  history,
  me,
  isKnown,
}: {
  route: Route;
  history: History;
  /** The signed-in account, and whether it is known if there is one. */
  me: string | undefined;
  isKnown: boolean;
}) {
  const policy = route.policy ? policyNamed(history, route.policy) : history.inForce;
  if (route.compare) {
    return <LazyComparison key="compare" history={history} between={route.compare} />;
  }
  if (route.decisions !== undefined && !isKnown) {
    return (
      <h1 class="waiting" aria-busy="true">
        {t('working')}
      </h1>
    );
  }
  if (route.decisions !== undefined) {
    return (
      <OwnDecisions
        key={`decisions ${route.decisions}`}
        rule={route.decisions}
        said={policy?.status.rules.find(({ id }) => id === route.decisions)}
        me={me}
      />
    );
  }
  if (policy) {
    return (
      <PolicyView
        key={`policy ${route.policy ?? ''}`}
        history={history}
        policy={policy}
        me={me}
        pinned={route.policy}
        at={route.at}
      />
    );
  }
  return (
    <ErrorView
      key="absent"
      title="policy.absent.title"
      what="policy.absent.what"
      values={{ name: route.policy ?? '' }}
    >
      <p class="leave">
        <a href="#">{t('policy.back')}</a>
      </p>
    </ErrorView>
  );
}

function LoadedPolicies({ route, history }: { route: Route; history: History }) {
  const { value: account, failure } = useRead(() => call<Account>('GET', 'accounts/~'), []);
  const arrived = useArrival(history);
  const isCurrent = !route.policy && !route.compare && route.decisions === undefined;
  useScrollTo(route, `${route.policy ?? ''} ${route.decisions ?? ''}`);
  return (
    <>
      {arrived && (
        <Status look="notice">
          {format(isCurrent ? 'policy.arrived.here' : 'policy.arrived.there', {
            name: (
              <a href={`#${arrived}`}>
                <bdi dir="ltr">{arrived}</bdi>
              </a>
            ),
          })}
        </Status>
      )}
      <RoutedView
        route={route}
        history={history}
        me={account?.metadata.name}
        isKnown={Boolean(account ?? failure)}
      />
    </>
  );
}

/** The policy page: the one in force, earlier ones, comparisons, and decisions about the reader. */
export function PolicyPage() {
  const { isLoaded, redraw } = useLanguage();
  const route = useRoute();
  const { items, failure, reload } = useCollection<Policy>(isLoaded ? 'policies' : undefined);
  return (
    <Page wide alert={items && failure && errorText(failure)} onLanguageChange={redraw}>
      {items ? (
        <LoadedPolicies route={route} history={historyOf(items)} />
      ) : (
        <FirstLoad loading="policy.loading" failure={failure} retry={reload} />
      )}
    </Page>
  );
}
