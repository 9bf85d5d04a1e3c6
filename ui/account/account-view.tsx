import { useEffect, useState } from 'preact/hooks';
import type { Recovery } from '../api.js';
import { reviewAccess } from '../base/api/access-review.js';
import { ApiError, call } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { useCollection } from '../base/api/collection.js';
import { Lazy, useLazy } from '../base/api/lazy.js';
import { Ltr, t, format } from '../base/text/message.js';
import { useRead } from '../base/api/use-read.js';
import { View } from '../base/view.js';
import { Data } from './sections/data.js';
import { Email } from './sections/email.js';
import { Grants } from './sections/grants.js';
import { ownedBy, useAccountContext } from './base/account-context.js';
import { ReadError, Section, sectionIDs, focusSection, type SectionID } from './base/section.js';
import { Passkeys } from './sections/passkeys.js';
import { Profile } from './sections/profile.js';
import { RecoveryNotice } from './sections/recovery.js';
import { ActionError, useAction } from './base/use-action.js';
import { Reviews } from './sections/reviews.js';
import { Sessions, useSessions } from './sections/sessions.js';

const appsChunk = new Lazy(() => import('./sections/apps.js'));
const decisionsChunk = new Lazy(() => import('../decisions/decisions-chunk.js'));

/** Links to the sections. The address stays the same, because its fragment may contain a step. */
function Sections({ ids }: { ids: readonly SectionID[] }) {
  const go =
    (id: string) =>
    (event: Event): void => {
      event.preventDefault();
      document.getElementById(id)?.scrollIntoView();
      document.getElementById(id)?.focus({ preventScroll: true });
    };
  return (
    <nav class="sections" aria-label={t('account.sections')}>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <a href={`#${id}`} onClick={go(id)}>
              {t(`part.${id}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Signs this browser out, without the way through the list of devices. */
function SignOut() {
  const { leave } = useAccountContext();
  const act = useAction();
  const end = async (): Promise<void> => {
    if (await act.run(() => call('DELETE', 'sessions/~'))) leave('signedout');
  };
  return (
    <>
      <ActionError failure={act.failure} />
      <p>
        <Button variant="small" busy={act.busy} onPress={() => void end()}>
          {t('account.signout')}
        </Button>
      </p>
    </>
  );
}

/** A link to the console for who may list more than their own objects: Clients have no owner. */
function ConsoleLink() {
  const { value: access } = useRead(
    () => reviewAccess({ group: 'id.vestibule.org', resource: 'clients', verb: 'list' }),
    [],
  );
  return access?.allowed ? (
    <p>
      <a href="/console">{t('account.console')}</a>
    </p>
  ) : null;
}

/** Loaded on request: there may be many decisions, and watching them holds a connection. */
function OwnDecisions() {
  const { account } = useAccountContext();
  const [open, setOpen] = useState(false);
  const { loaded, isMissing } = useLazy(open ? decisionsChunk : undefined);
  return (
    <Section id="decisions" hint="decisions.hint">
      {open && loaded && <loaded.Decisions account={account.metadata.name} />}
      {open && !loaded && !isMissing && <p class="hint">{t('working')}</p>}
      {isMissing && <ReadError failure={new ApiError(0)} again={() => location.reload()} />}
      {!open && (
        <Button
          onPress={() => {
            setOpen(true);
            focusSection('decisions');
          }}
        >
          {t('account.decisions.show')}
        </Button>
      )}
    </Section>
  );
}

/** Returns the section of a step. */
function sectionOf(step: string): string {
  if (step.startsWith('passkey') || step === 'recover') return 'passkeys';
  return step.startsWith('delete') || step === 'export' ? 'data' : step;
}

/** All sections of the page. Each loads by itself, and an error affects it alone. */
export function AccountView() {
  const { account, step, isLive } = useAccountContext();
  const recoveries = useCollection<Recovery>('recoveries', ownedBy(account), isLive);
  const held = useSessions();
  const { loaded: menu } = useLazy(appsChunk);
  const [hasApps, setHasApps] = useState(false);
  useEffect(() => {
    if (!step) return;
    const place = document.getElementById(sectionOf(step));
    requestAnimationFrame(() => place?.scrollIntoView());
  }, []);
  return (
    <View title="account.title" phase="account">
      <p class="lead">
        {format('account.lead', { email: <Ltr of={account.status.email.address} strong /> })}{' '}
        {t('account.fresh')}
      </p>
      <SignOut />
      <ConsoleLink />
      <RecoveryNotice recoveries={recoveries} />
      <Sections ids={sectionIDs.filter((id) => id !== 'apps' || hasApps)} />
      <Profile />
      <Email current={held.sessions.items?.find(({ status }) => status.current)} />
      <Passkeys recoveries={recoveries} />
      <Sessions {...held} />
      {menu && <menu.Apps onShown={setHasApps} />}
      <Grants />
      <OwnDecisions />
      <Reviews />
      <Data />
    </View>
  );
}
