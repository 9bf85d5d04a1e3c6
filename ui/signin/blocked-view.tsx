import type { InteractionClient } from '../api.js';
import type { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { Link } from '../base/link.js';
import { Text, t, format } from '../base/message.js';
import { Reference, ErrorView } from '../base/error-page.js';
import { View } from '../base/view.js';
import { isAccountPage, nameOf } from '../base/local-text.js';
import { Decision } from './decision.js';
import type { SignInStore } from './sign-in-store.js';

/** A link back to the Client for a sign-in that can no longer return to it. */
export function BackToClient({ client }: { client: InteractionClient | undefined }) {
  const to = client?.initiateLoginURI ?? client?.homepageURI;
  return client && to ? (
    <p>
      <Link to={to} look="button main">
        {format('back', { client: nameOf(client) })}
      </Link>
    </p>
  ) : null;
}

interface Refused {
  store: SignInStore;
  /** The decision behind it. */
  decision?: string | undefined;
  client: InteractionClient;
  message: string;
  phase: string;
  failure?: ApiError | undefined;
}

/** The message of the policy, unchanged, whom to ask, and the decision. */
function Refused({ store, client, message, phase, failure, decision }: Refused) {
  const name = nameOf(client);
  const isOwn = isAccountPage(client);
  const host = <bdi dir="ltr">{location.host}</bdi>;
  return (
    <View
      title={isOwn ? 'refused.own' : 'refused.title'}
      values={{ client: name }}
      phase={phase}
      error
    >
      <p class="lead">{format('refused.what', { host })}</p>
      <blockquote>
        <Text of={message} max={500} />
      </blockquote>
      <p>
        {isOwn ? format('refused.ask', { host }) : format('refused.whom', { client: name })}{' '}
        {client.policyURI && (
          <Link to={client.policyURI} tab>
            {format('refused.policy', { client: name })}
          </Link>
        )}
      </p>
      <Reference failure={failure} />
      {decision && <Decision store={store} name={decision} />}
    </View>
  );
}

/** Shown when policy refuses a sign-in that continues a session. Only cancelling remains. */
export function RefusalView({ store }: { store: SignInStore }) {
  const { client, phase, refusal } = store.interaction!.status;
  return (
    <Refused
      store={store}
      client={client}
      message={refusal!.message}
      phase={phase}
      decision={refusal!.policyDecision}
    />
  );
}

/** Shown instead of the interaction's view if the sign-in cannot continue. */
export function BlockedView({ store }: { store: SignInStore }) {
  const client = store.interaction?.status.client;
  const blocked = store.blocked!;
  if (blocked.kind === 'refused')
    return <Refused store={store} client={client!} phase="error" {...blocked} />;
  if (blocked.kind === 'unavailable') return null;
  return (
    <ErrorView
      title={`${blocked.kind}.title`}
      what={`${blocked.kind}.what`}
      failure={blocked.failure}
    >
      {blocked.kind.startsWith('link') && (
        <Button variant="main" onPress={() => store.restart()}>
          {t('startagain')}
        </Button>
      )}
      {(blocked.kind === 'over' || blocked.kind === 'lost') && <BackToClient client={client} />}
    </ErrorView>
  );
}
