import { useEffect, useState } from 'preact/hooks';
import { Button } from '../base/button.js';
import { Latin, say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import { Decisions } from '../decisions/decisions.js';
import type { MessageID } from '../messages/catalog.js';
import { Data } from './data.js';
import { Email } from './email.js';
import { Grants } from './grants.js';
import { useMe } from './me.js';
import { Part, toPart } from './part.js';
import { Passkeys } from './passkeys.js';
import { Profile } from './profile.js';
import { Reviews } from './reviews.js';
import { Sessions } from './sessions.js';

const parts: readonly (readonly [string, MessageID])[] = [
  ['profile', 'profile.title'], ['email', 'address.title'], ['passkeys', 'passkeys.title'], ['sessions', 'sessions.title'], ['grants', 'grants.title'],
  ['decisions', 'account.decisions'], ['reviews', 'reviews.title'], ['data', 'data.title'],
];

/** Leads to a part without naming it in the address, where a step may stand. */
function Sections() {
  const go = (id: string) => (event: Event): void => {
    event.preventDefault();
    document.getElementById(id)?.scrollIntoView();
    document.getElementById(id)?.focus({ preventScroll: true });
  };
  return (
    <nav class="sections" aria-label={say('account.sections')}>
      <ul>{parts.map(([id, title]) => <li key={id}><a href={`#${id}`} onClick={go(id)}>{say(title)}</a></li>)}</ul>
    </nav>
  );
}

/** Read when they are wanted: there may be many, and to follow them holds a connection. */
function OwnDecisions() {
  const { account } = useMe();
  const [open, setOpen] = useState(false);
  return (
    <Part id="decisions" title="account.decisions" hint="account.decisions.hint">
      {open ? <Decisions account={account.metadata.name} /> : <Button press={() => { setOpen(true); toPart('decisions'); }}>{say('account.decisions.show')}</Button>}
    </Part>
  );
}

/** Where a step belongs. */
const placeOf = (step: string): string => (step.startsWith('passkey') ? 'passkeys' : step.startsWith('delete') ? 'data' : step);

/** Every part of the page; each is read by itself and fails alone. */
export function AccountView() {
  const { account, step } = useMe();
  useEffect(() => {
    if (!step) return;
    const place = document.getElementById(placeOf(step));
    requestAnimationFrame(() => place?.scrollIntoView());
  }, []);
  return (
    <View title="account.title" phase="account">
      <p class="lead">{tell('account.lead', { email: <Latin of={account.status.email.address} strong /> })} {say('account.fresh')}</p>
      <Sections />
      <Profile />
      <Email />
      <Passkeys />
      <Sessions />
      <Grants />
      <OwnDecisions />
      <Reviews />
      <Data />
    </View>
  );
}
