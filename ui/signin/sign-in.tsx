import { useMemo, useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { FooterLinks } from '../base/footer-links.js';
import { useLazy } from '../base/api/lazy.js';
import { t, format } from '../base/text/message.js';
import { Page } from '../base/page.js';
import { Reference } from '../base/error-page.js';
import { isAccountPage, nameOf } from '../base/text/local-text.js';
import { CurrentView, viewOf, type ViewName } from './current-view.js';
import { endsChunk } from './lazy-views.js';
import type { SignInStore } from './store/sign-in-store.js';

function Cancel({ store }: { store: SignInStore }) {
  const { client } = store.interaction!.status;
  return (
    <p class="leave">
      <Button
        variant="plain"
        busy={store.busy === 'cancel'}
        onPress={() => void store.act('cancel')}
      >
        {isAccountPage(client) ? t('cancel.own') : format('cancel', { client: nameOf(client) })}
      </Button>
    </p>
  );
}

function Footer({ store }: { store: SignInStore }) {
  const client = store.interaction?.status.client;
  return (
    <FooterLinks
      name={client ? nameOf(client) : ''}
      privacy={client?.privacyPolicyURI}
      terms={client?.termsOfServiceURI}
    />
  );
}

/** Views that show the expiry warning. */
const timedViews = new Set<ViewName>(['email', 'code', 'link', 'setup', 'consent']);
const canCancel = (store: SignInStore, view: ViewName): boolean =>
  Boolean(store.interaction) &&
  (view === 'refused' ||
    (timedViews.has(view) && view !== 'consent') ||
    (view === 'blocked' && store.blocked?.kind !== 'lost' && store.blocked?.kind !== 'over'));

/** The page of one sign-in, which shows the Interaction last received. */
export function SignIn({ store }: { store: SignInStore }) {
  const [, render] = useState(0);
  const changed = (): void => render((count) => count + 1);
  useMemo(() => {
    store.changed = changed;
  }, [store]);
  const view = viewOf(store);
  const { problem } = store;
  const { loaded: ends } = useLazy(store.endsSoon ? endsChunk : undefined);
  const alert = problem && (
    <>
      {problem.text}
      <Reference failure={problem.inField ? undefined : problem.failure} />
    </>
  );
  return (
    <Page
      alert={alert}
      isAlertHidden={problem?.inField}
      onLanguageChange={changed}
      footer={<Footer store={store} />}
    >
      {ends && timedViews.has(view) && <ends.EndsSoon store={store} />}
      <CurrentView key={`${view} ${store.blocked?.kind}`} store={store} name={view} />
      {canCancel(store, view) && <Cancel store={store} />}
    </Page>
  );
}
