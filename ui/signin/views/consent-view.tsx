import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConsentScope } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { Button } from '../../base/button.js';
import { ignoredMs, useClickGuard } from '../../base/click-guard.js';
import { Link } from '../../base/link.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import { nameOf } from '../../base/text/local-text.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { ClientHeader } from './client-header.js';
import { ScopeRow } from './scope-row.js';

/** Returns the scope that a 422 names by its index in the list that was sent. */
const rejectedScope = (store: SignInStore, sent: readonly string[]): string | undefined =>
  store.problem?.failure.details.causes
    ?.map(({ field = '' }) => sent[Number(/scopes\[(\d+)/.exec(field)?.[1])])
    .find(Boolean);

/** Announces a change of the scopes while the person reads them. */
function useChangeAnnouncement(scopes: readonly ConsentScope[]): string {
  const shown = JSON.stringify(scopes);
  const previous = useRef(shown);
  useEffect(() => {
    if (previous.current !== shown) announce(t('consent.changed'));
    previous.current = shown;
  }, [shown]);
  return shown;
}

const terms = () => {
  const page = (
    <Link to="/account" tab>
      {t('consent.account')}
    </Link>
  );
  return (
    <p class="fine">
      {t('consent.oncancel')} {format('consent.withdraw', { account: page })}
    </p>
  );
};

/** The two buttons. Each ignores clicks until the question has been in view long enough. */
function Choices({
  store,
  ready,
  allow,
}: {
  store: SignInStore;
  ready: () => boolean;
  allow: () => void;
}) {
  return (
    <div class="pair even">
      <Button
        busy={store.busy === 'consent'}
        progress="consent.allowing"
        onPress={() => {
          if (ready()) allow();
        }}
      >
        {t('consent.allow')}
      </Button>
      <Button
        busy={store.busy === 'cancel'}
        onPress={() => {
          if (ready()) void store.act('cancel');
        }}
      >
        {t('consent.cancel')}
      </Button>
    </div>
  );
}

/**
 * What the app would receive, scope by scope. Only scopes that are required, or agreed to before, are
 * selected in advance.
 */
export function ConsentView({ store }: { store: SignInStore }) {
  const { phase, client, consent, account } = store.interaction!.status;
  const scopes = consent!.scopes;
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const sent = useRef<string[]>([]);
  const ready = useClickGuard(useChangeAnnouncement(scopes));
  const rejected = rejectedScope(store, sent.current);
  useEffect(() => {
    if (rejected) document.getElementById(`scope-${rejected}`)?.focus();
  }, [store.problem]);
  const isChosen = (scope: ConsentScope): boolean =>
    scope.allowed && (scope.required || (chosen[scope.name] ?? scope.granted));
  const chosenNames = scopes.filter(isChosen).map(({ name }) => name);
  const allow = (): void => {
    sent.current = chosenNames;
    void store.act('consent', { spec: { scopes: sent.current } });
  };
  const name = nameOf(client);
  return (
    <View
      title="consent.title"
      values={{ client: name }}
      phase={phase}
      delayMs={ignoredMs}
      error={Boolean(store.problem)}
      header={<ClientHeader client={client} />}
    >
      <p class="lead">
        {format('consent.as', { email: <Ltr of={account!.email} strong />, client: name })}
      </p>
      {client.declaredName && (
        <p class="lead">{format('consent.named', { client: client.declaredName })}</p>
      )}
      {client.redirectHost && (
        <p class="lead">{format('consent.to', { client: <Ltr of={client.redirectHost} /> })}</p>
      )}
      <div class="scopes">
        {scopes.map((scope, i) => (
          <ScopeRow
            key={scope.name}
            scope={scope}
            before={scopes[i - 1]}
            chosenNames={chosenNames}
            error={rejected === scope.name ? t('consent.invalid') : undefined}
            choose={(on) => setChosen({ ...chosen, [scope.name]: on })}
          />
        ))}
      </div>
      <Choices store={store} ready={ready} allow={allow} />
      {terms()}
    </View>
  );
}
