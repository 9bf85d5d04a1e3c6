import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { useLazy, type Lazy } from '../base/api/lazy.js';
import { t, format } from '../base/text/message.js';
import { LoadErrorView } from '../base/error-page.js';
import { isAccountPage, nameOf } from '../base/text/local-text.js';
import { EmailView } from './email-view.js';
import type { SignInStore } from './store/sign-in-store.js';
import { consentChunk, endsChunk, proofChunk } from './lazy-views.js';

/** The views of the page. */
export type ViewName =
  | 'loading'
  | 'unavailable'
  | 'blocked'
  | 'leaving'
  | 'end'
  | 'continue'
  | 'link'
  | 'code'
  | 'email'
  | 'setup'
  | 'refused'
  | 'consent';

/** Returns the view for the state of a sign-in. */
export function viewOf({
  interaction,
  blocked,
  ending,
  setup,
  token,
  signedIn,
  changesEmail: wantsOtherAddress,
}: SignInStore): ViewName {
  if (blocked) return blocked.kind === 'unavailable' ? 'unavailable' : 'blocked';
  if (!interaction) return 'loading';
  if (ending) return ending === 'leaving' ? ending : 'end';
  const { phase, refusal, emailChallenge } = interaction.status;
  if (phase === 'ConsentRequired') return refusal ? 'refused' : 'consent';
  if (phase !== 'LoginRequired') return setup ? 'setup' : 'loading';
  if (token) return 'link';
  if (signedIn) return 'continue';
  return emailChallenge && !wantsOtherAddress ? 'code' : 'email';
}

/** Shown if the first call failed. Needs no other chunk. */
function FirstLoadFailed({ store }: { store: SignInStore }) {
  return (
    <LoadErrorView failure={store.blocked!.failure!}>
      <Button variant="main" onPress={() => void store.start()}>
        {t('retry')}
      </Button>
    </LoadErrorView>
  );
}

/** Milliseconds after which a page that did not open gets a link. */
const leavingMs = 2_000;

/** Shown while the browser returns to the app; a link follows if that takes long. */
function Leaving({ store }: { store: SignInStore }) {
  const { client, returnTo } = store.interaction!.status;
  const [waits, setWaits] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setWaits(false), leavingMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      <h1 class="waiting" aria-busy={waits}>
        {isAccountPage(client) ? t('loading') : format('leaving.title', { client: nameOf(client) })}
      </h1>
      {!waits && (
        <a
          class="button main"
          href={returnTo}
          onClick={(event) => {
            event.preventDefault();
            void store.leaveAgain();
          }}
        >
          {t('leaving.go')}
        </a>
      )}
    </>
  );
}

type SignInView = ComponentType<{ store: SignInStore }>;
const bundled: Partial<Record<ViewName, SignInView>> = {
  email: EmailView,
  leaving: Leaving,
  unavailable: FirstLoadFailed,
};

type ViewChunk = Lazy<Partial<Record<ViewName, SignInView>>>;

/** Returns the chunk that contains a view, or undefined if it is bundled. */
function chunkOf(name: ViewName): ViewChunk | undefined {
  if (bundled[name] || name === 'loading') return undefined;
  if (name === 'code' || name === 'link') return proofChunk;
  return name === 'setup' || name === 'consent' ? consentChunk : endsChunk;
}

/** Shows a view after its chunk is loaded. */
export function CurrentView({ store, name }: { store: SignInStore; name: ViewName }) {
  const { loaded: here, isMissing: missing } = useLazy(chunkOf(name));
  if (missing) {
    return (
      <LoadErrorView failure={new ApiError(0)}>
        <Button variant="main" onPress={() => location.reload()}>
          {t('retry')}
        </Button>
      </LoadErrorView>
    );
  }
  const View = bundled[name] ?? here?.[name];
  return View ? (
    <View store={store} />
  ) : (
    <h1 class="waiting" aria-busy="true">
      {t('loading')}
    </h1>
  );
}
