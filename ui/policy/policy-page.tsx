import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account, Policy } from '../api.js';
import { announce } from '../base/live-region.js';
import { call, type ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { useCollection } from '../base/collection.js';
import { loadLocale } from '../base/i18n.js';
import { t, format } from '../base/message.js';
import { Page } from '../base/page.js';
import { excuse, OutOfOrder, Trouble } from '../base/error-page.js';
import { Comparison } from './comparison.js';
import { historyOf, named, type History } from './history.js';
import { OwnDecisions } from './own-decisions.js';
import { PolicyView } from './policy-view.js';
import { useRoute, type Route } from './route.js';

/** Who is signed in here: an account's name, no one, or not known yet. */
function useMe(): { me: string | undefined; known: boolean } {
  const [who, set] = useState<{ me: string | undefined; known: boolean }>({
    me: undefined,
    known: false,
  });
  useEffect(() => {
    const told = (me?: string): void => set({ me, known: true });
    call<Account>('GET', 'accounts/~').then(
      ({ metadata }) => told(metadata.name),
      () => told(),
    );
  }, []);
  return who;
}

/** The policy that came into force while this page was open. */
function useArrival({ inForce }: History): string | undefined {
  const name = inForce?.metadata.name;
  const first = useRef(name);
  useEffect(() => {
    first.current ??= name;
    if (name !== first.current && name) announce(t('policy.arrived', { name }));
  }, [name]);
  return first.current !== undefined && name !== first.current ? name : undefined;
}

/**
 * Leads to the place that the address names once it is there, and again when its link is followed
 * again.
 */
function usePlace({ rule, at }: Route, shown: string): void {
  useEffect(() => {
    const go = (): void => {
      const rows =
        rule === undefined ? [] : [...document.querySelectorAll<HTMLElement>('[data-rule]')];
      const place =
        rows.find(({ dataset }) => dataset.rule === rule) ??
        (at ? document.getElementById(at) : undefined);
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

function Current({
  route,
  history,
  me,
  known,
}: {
  route: Route;
  history: History;
  me: string | undefined;
  known: boolean;
}) {
  const policy = route.policy ? named(history, route.policy) : history.inForce;
  if (route.compare) return <Comparison key="compare" history={history} between={route.compare} />;
  if (route.decisions !== undefined && !known)
    return (
      <h1 class="waiting" aria-busy="true">
        {t('working')}
      </h1>
    );
  if (route.decisions !== undefined)
    return <OwnDecisions key={`decisions ${route.decisions}`} rule={route.decisions} me={me} />;
  if (policy)
    return (
      <PolicyView
        key={`policy ${route.policy ?? ''}`}
        history={history}
        policy={policy}
        me={me}
        pinned={route.policy}
      />
    );
  return (
    <Trouble
      key="absent"
      title="policy.absent.title"
      what="policy.absent.what"
      values={{ name: route.policy ?? '' }}
    >
      <p class="leave">
        <a href="#">{t('policy.back')}</a>
      </p>
    </Trouble>
  );
}

function Shown({ route, history }: { route: Route; history: History }) {
  const { me, known } = useMe();
  const arrived = useArrival(history);
  const here = !route.policy && !route.compare && route.decisions === undefined;
  usePlace(route, `${route.policy ?? ''} ${route.decisions ?? ''}`);
  return (
    <>
      {arrived && (
        <p class="notice">
          {format(here ? 'policy.arrived.here' : 'policy.arrived.there', {
            name: (
              <a href={`#${arrived}`}>
                <bdi dir="ltr">{arrived}</bdi>
              </a>
            ),
          })}
        </p>
      )}
      <Current route={route} history={history} me={me} known={known} />
    </>
  );
}

/** What stands here while there is no list of policies: what went wrong, or that it is loading. */
function WithoutPolicies({ failure, again }: { failure: ApiError | undefined; again: () => void }) {
  if (failure)
    return (
      <OutOfOrder failure={failure}>
        <Button look="main" press={again}>
          {t('retry')}
        </Button>
      </OutOfOrder>
    );
  return (
    <h1 class="waiting" aria-busy="true">
      {t('policy.loading')}
    </h1>
  );
}

/**
 * The policy for anyone to read: in force, earlier, compared, and what it decided about the reader.
 */
export function PolicyPage() {
  const [ready, setReady] = useState(false);
  const [, render] = useState(0);
  const route = useRoute();
  const { items, failure, again } = useCollection<Policy>(ready ? 'policies' : undefined);
  useEffect(() => {
    void loadLocale().then(() => setReady(true));
  }, []);
  return (
    <Page
      wide
      alert={items && failure && excuse(failure)}
      changed={() => render((count) => count + 1)}
    >
      {items ? (
        <Shown route={route} history={historyOf(items)} />
      ) : (
        <WithoutPolicies failure={failure} again={again} />
      )}
    </Page>
  );
}
