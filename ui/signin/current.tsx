import type { ComponentType } from 'preact';
import { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { usePart, type Late } from '../base/lazy.js';
import { say, tell } from '../base/message.js';
import { OutOfOrder } from '../base/error-page.js';
import { EmailView } from './email-view.js';
import type { Flow } from './sign-in-store.js';
import { LinkView } from './link-view.js';
import { agreeing, proving } from './lazy-views.js';

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
export function viewOf({ interaction, impasse, ending, setup, token, elsewhere }: Flow): ViewName {
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
function Unread({ flow }: { flow: Flow }) {
  return (
    <OutOfOrder failure={flow.impasse!.failure!}>
      <Button look="main" press={() => void flow.start()}>
        {say('retry')}
      </Button>
    </OutOfOrder>
  );
}

/** On the way back to the Client: nothing is left to do here, so nothing is ready for input. */
function Leaving({ flow }: { flow: Flow }) {
  return (
    <h1 class="waiting" aria-busy="true">
      {tell('leaving.title', { client: flow.interaction!.status.client.displayName })}
    </h1>
  );
}

type OneView = ComponentType<{ flow: Flow }>;
const bundled: Partial<Record<ViewName, OneView>> = {
  email: EmailView,
  link: LinkView,
  leaving: Leaving,
  unread: Unread,
};

type Part = Late<Partial<Record<ViewName, OneView>>>;

/** The part of the page that has the view of that name; undefined where none is to be fetched. */
function partOf(name: ViewName): Part | undefined {
  if (bundled[name] || name === 'loading') return undefined;
  return name === 'setup' || name === 'consent' ? agreeing : proving;
}

/** Shows the view of that name, once it is here. */
export function Current({ flow, name }: { flow: Flow; name: ViewName }) {
  const { here, missing } = usePart(partOf(name));
  if (missing)
    return (
      <OutOfOrder failure={new ApiError(0)}>
        <Button look="main" press={() => location.reload()}>
          {say('retry')}
        </Button>
      </OutOfOrder>
    );
  const One = bundled[name] ?? here?.[name];
  return One ? (
    <One flow={flow} />
  ) : (
    <h1 class="waiting" aria-busy="true">
      {say('loading')}
    </h1>
  );
}
