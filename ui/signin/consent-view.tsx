import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConsentScope } from '../api.js';
import { announce } from '../base/live-region.js';
import { Button } from '../base/button.js';
import { ignoredMs, useGuard } from '../base/double-submit.js';
import { Latin, t, format } from '../base/message.js';
import { View } from '../base/view.js';
import type { SignInStore } from './sign-in-store.js';
import { Head } from './client-header.js';
import { ScopeRow } from './scope-row.js';

/** Where in the list of scopes sent a 422 points. */
const faulty = (store: SignInStore, sent: readonly string[]): string | undefined => {
  const field = store.problem?.failure.details.causes
    ?.map((cause) => /^spec\.scopes\[(\d+)\]/.exec(cause.field ?? '')?.[1])
    .find(Boolean);
  return field === undefined ? undefined : sent[Number(field)];
};

/** Says so when the scopes change while they are being read. */
function useNews(scopes: readonly ConsentScope[]): string {
  const shown = JSON.stringify(scopes);
  const before = useRef(shown);
  useEffect(() => {
    if (before.current !== shown) announce(t('consent.changed'));
    before.current = shown;
  }, [shown]);
  return shown;
}

function Terms({ client }: { client: string }) {
  const page = (
    <a href="/account" target="_blank" rel="noopener noreferrer">
      {t('consent.account')}
      <span class="quiet"> ({t('newtab')})</span>
    </a>
  );
  return (
    <p class="fine">
      {format('consent.oncancel', { client })} {format('consent.withdraw', { account: page })}
    </p>
  );
}

/** The two answers; each counts once the question has been in view for long enough. */
function Answers({
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
        press={() => {
          if (ready()) allow();
        }}
      >
        {t('consent.allow')}
      </Button>
      <Button
        busy={store.busy === 'cancel'}
        press={() => {
          if (ready()) void store.act('cancel');
        }}
      >
        {t('consent.cancel')}
      </Button>
    </div>
  );
}

/** What the Client would get, scope by scope; only what is required is chosen in advance. */
export function ConsentView({ store }: { store: SignInStore }) {
  const { phase, client, consent, account } = store.interaction!.status;
  const scopes = consent!.scopes;
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const sent = useRef<string[]>([]);
  const ready = useGuard(useNews(scopes));
  const fault = faulty(store, sent.current);
  useEffect(() => {
    if (fault) document.getElementById(`scope-${fault}`)?.focus();
  }, [store.problem]);
  const takes = (scope: ConsentScope): boolean =>
    scope.allowed && (scope.required || Boolean(chosen[scope.name]));
  const allow = (): void => {
    sent.current = scopes.filter(takes).map(({ name }) => name);
    void store.act('consent', { spec: { scopes: sent.current } });
  };
  const name = client.displayName;
  return (
    <View
      title="consent.title"
      values={{ client: name }}
      phase={phase}
      after={ignoredMs}
      error={Boolean(store.problem)}
      above={<Head client={client} />}
    >
      <p class="lead">
        {account
          ? format('consent.as', { email: <Latin of={account.email} strong />, client: name })
          : t('consent.what')}
      </p>
      <div class="scopes">
        {scopes.map((scope) => (
          <ScopeRow
            key={scope.name}
            scope={scope}
            chosen={takes(scope)}
            error={fault === scope.name ? t('consent.invalid') : undefined}
            choose={(on) => setChosen({ ...chosen, [scope.name]: on })}
          />
        ))}
      </div>
      <Answers store={store} ready={ready} allow={allow} />
      <Terms client={name} />
    </View>
  );
}
