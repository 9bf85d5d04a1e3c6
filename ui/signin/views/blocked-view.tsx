import type { InteractionClient } from '../../api.js';
import type { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Link } from '../../base/link.js';
import { Text, t, format } from '../../base/text/message.js';
import { Reference, ErrorView } from '../../base/error-page.js';
import { View } from '../../base/view.js';
import { isAccountPage, localText, nameOf, type Texts } from '../../base/text/local-text.js';
import { Decision } from './decision.js';
import type { SignInStore } from '../store/sign-in-store.js';

/**
 * The way on from a sign-in that can no longer return to its Client: a link to the Client, or to the
 * account page, which lists the apps of a person.
 */
export function WayOn({ client }: { client: InteractionClient | undefined }) {
  const to = client?.initiateLoginURI ?? client?.homepageURI;
  return (
    <p>
      <Link to={to ?? '/account'} look="button main">
        {client && to ? format('back', { client: nameOf(client) }) : t('end.account')}
      </Link>
    </p>
  );
}

/** Returns whether this browser keeps cookies of this page. */
function keepsCookies(): boolean {
  document.cookie = 'vestibule.cookies=1; Path=/; SameSite=Lax';
  const kept = document.cookie.includes('vestibule.cookies=1');
  document.cookie = 'vestibule.cookies=; Path=/; Max-Age=0';
  return kept;
}

/** Leads to the page before this one, where the sign-in may be started again. */
const goBack = (): void => (history.length > 1 ? history.back() : location.reload());

interface Refused {
  store: SignInStore;
  /** The decision behind it. */
  decision?: string | undefined;
  client: InteractionClient;
  message: string;
  /** The message in other languages. */
  messages?: Texts;
  phase: string;
  failure?: ApiError | undefined;
}

/** The message of the policy, unchanged, whom to ask, and the decision. */
function Refused({ store, client, message, messages, phase, failure, decision }: Refused) {
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
        <Text of={localText(message, messages)} max={500} />
      </blockquote>
      <p>
        {isOwn ? format('refused.ask', { host }) : format('refused.whom', { client: name })}{' '}
        {client.privacyPolicyURI && (
          <Link to={client.privacyPolicyURI} tab>
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
      messages={refusal!.messages}
      phase={phase}
      decision={refusal!.policyDecision}
    />
  );
}

/** Shown instead of the interaction's view if the sign-in cannot continue. */
export function BlockedView({ store }: { store: SignInStore }) {
  const client = store.interaction?.status.client;
  const blocked = store.blocked!;
  if (blocked.kind === 'refused') {
    return <Refused store={store} client={client!} phase="error" {...blocked} />;
  }
  if (blocked.kind === 'unavailable') return null;
  const kind = blocked.kind === 'lost' && !keepsCookies() ? 'nocookies' : blocked.kind;
  const way = kind === 'nocookies' ? goBack : kind.startsWith('link') && (() => store.restart());
  return (
    <ErrorView
      title={`${kind}.title`}
      what={`${kind}.what`}
      values={{ host: location.host }}
      failure={blocked.failure}
    >
      {way ? (
        <Button variant="main" onPress={way}>
          {t(kind === 'nocookies' ? 'retry' : 'startagain')}
        </Button>
      ) : (
        <WayOn client={client} />
      )}
    </ErrorView>
  );
}
