import { useMemo, useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Link } from '../base/link.js';
import { inTime, say, tell } from '../base/message.js';
import { Page } from '../base/page.js';
import { useRemaining } from '../base/remaining.js';
import { Reference } from '../base/error-page.js';
import { Current, viewOf, type ViewName } from './current.js';
import { Decision } from './decision.js';
import type { Flow } from './sign-in-store.js';

/** The warning before time runs out, with the way to begin anew at the Client. */
function EndsSoon({ flow }: { flow: Flow }) {
  const { client, expirationTimestamp } = flow.interaction!.status;
  const left = useRemaining(expirationTimestamp);
  const to = client.initiateLoginURI ?? client.homepageURI;
  return (
    <p class="notice warn">
      {tell('soon', { when: inTime(left) })} {to && <Link to={to}>{say('startagain')}</Link>}
    </p>
  );
}

function Cancel({ flow }: { flow: Flow }) {
  const { client } = flow.interaction!.status;
  return (
    <p class="leave">
      <Button look="plain" busy={flow.busy === 'cancel'} press={() => void flow.act('cancel')}>
        {tell('cancel', { client: client.displayName })}
      </Button>
    </p>
  );
}

function Footer({ flow }: { flow: Flow }) {
  const { policyURI, termsURI, displayName } = flow.interaction?.status.client ?? {};
  return (
    <>
      {(policyURI || termsURI) && <bdi>{displayName}</bdi>}
      {policyURI && (
        <Link to={policyURI} tab>
          {say('privacy')}
        </Link>
      )}
      {termsURI && (
        <Link to={termsURI} tab>
          {say('terms')}
        </Link>
      )}
    </>
  );
}

/** Views in which time counts, and those with their own way out. */
const running = new Set<ViewName>(['email', 'code', 'link', 'setup', 'consent']);
const cancellable = (flow: Flow, view: ViewName): boolean =>
  Boolean(flow.interaction) &&
  (view === 'refused' ||
    (running.has(view) && view !== 'consent') ||
    (view === 'impasse' && flow.impasse?.kind !== 'lost' && flow.impasse?.kind !== 'over'));

/** The page of one sign-in: a view of the Interaction last received. */
export function SignIn({ flow }: { flow: Flow }) {
  const [, render] = useState(0);
  const changed = (): void => render((count) => count + 1);
  useMemo(() => {
    flow.changed = changed;
  }, [flow]);
  const view = viewOf(flow);
  const { problem, impasse } = flow;
  const decision =
    impasse?.kind === 'refused'
      ? impasse.decision
      : view === 'refused' && flow.interaction!.status.refusal!.policyDecision;
  const alert = problem && (
    <>
      {problem.words}
      <Reference failure={problem.quiet ? undefined : problem.failure} />
    </>
  );
  return (
    <Page alert={alert} quiet={problem?.quiet} changed={changed} footer={<Footer flow={flow} />}>
      {flow.endsSoon && running.has(view) && <EndsSoon flow={flow} />}
      <Current key={`${view} ${flow.impasse?.kind}`} flow={flow} name={view} />
      {decision && <Decision flow={flow} name={decision} />}
      {cancellable(flow, view) && <Cancel flow={flow} />}
    </Page>
  );
}
