import type { ComponentType } from 'preact';
import { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { usePart, type Lazy } from '../base/lazy.js';
import { t, format } from '../base/message.js';
import { OutOfOrder } from '../base/error-page.js';
import { EmailView } from './email-view.js';
import type { SignInStore } from './sign-in-store.js';
import { LinkView } from './link-view.js';
import { consentChunk, proofChunk } from './lazy-views.js';

/** What the page shows, by what is known of the sign-in. */
export type ViewName =
  | 'loading'
  | 'unread'
  | 'impasse'
  | 'leaving'
  | 'end'
  | 'link'
  | 'code'
  | 'email'
  | 'setup'
  | 'refused'
  | 'consent';

/** The view that goes with a flow as it stands. */
export function viewOf({
  interaction,
  blocked: impasse,
  ending,
  setup,
  token,
  elsewhere,
}: SignInStore): ViewName {
  if (impasse) return impasse.kind === 'outoforder' ? 'unread' : 'impasse';
  if (!interaction) return 'loading';
  if (ending) return ending === 'leaving' ? ending : 'end';
  const { phase, refusal, emailChallenge } = interaction.status;
  if (phase === 'ConsentRequired') return refusal ? 'refused' : 'consent';
  if (phase !== 'LoginRequired') return setup ? 'setup' : 'loading';
  if (token) return 'link';
  return emailChallenge && !elsewhere ? 'code' : 'email';
}

/** The first call did not come through, so nothing is known; needs nothing more to be fetched. */
function Unread({ store }: { store: SignInStore }) {
  return (
    <OutOfOrder failure={store.blocked!.failure!}>
      <Button look="main" press={() => void store.start()}>
        {t('retry')}
      </Button>
    </OutOfOrder>
  );
}

/** On the way back to the Client: nothing is left to do here, so nothing is ready for input. */
function Leaving({ store }: { store: SignInStore }) {
  return (
    <h1 class="waiting" aria-busy="true">
      {format('leaving.title', { client: store.interaction!.status.client.displayName })}
    </h1>
  );
}

type OneView = ComponentType<{ store: SignInStore }>;
const bundled: Partial<Record<ViewName, OneView>> = {
  email: EmailView,
  link: LinkView,
  leaving: Leaving,
  unread: Unread,
};

type Part = Lazy<Partial<Record<ViewName, OneView>>>;

/** The part of the page that has the view of that name; undefined where none is to be fetched. */
function partOf(name: ViewName): Part | undefined {
  if (bundled[name] || name === 'loading') return undefined;
  return name === 'setup' || name === 'consent' ? consentChunk : proofChunk;
}

/** Shows the view of that name, once it is here. */
export function Current({ store, name }: { store: SignInStore; name: ViewName }) {
  const { here, missing } = usePart(partOf(name));
  if (missing)
    return (
      <OutOfOrder failure={new ApiError(0)}>
        <Button look="main" press={() => location.reload()}>
          {t('retry')}
        </Button>
      </OutOfOrder>
    );
  const One = bundled[name] ?? here?.[name];
  return One ? (
    <One store={store} />
  ) : (
    <h1 class="waiting" aria-busy="true">
      {t('loading')}
    </h1>
  );
}
