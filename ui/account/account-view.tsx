import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Recovery } from '../api.js';
import { reviewAccess } from '../base/api/access-review.js';
import { ApiError } from '../base/api/api.js';
import { Button } from '../base/button.js';
import { useCollection } from '../base/api/collection.js';
import { Face } from '../base/frame/app-page.js';
import { Icon } from '../base/frame/icon.js';
import { Lazy, useLazy } from '../base/api/lazy.js';
import { Ltr, t, format } from '../base/text/message.js';
import { useRead } from '../base/api/use-read.js';
import { View } from '../base/view.js';
import { Data } from './sections/data.js';
import { Email } from './sections/email.js';
import { ownedBy, useAccountContext } from './base/account-context.js';
import { ReadError, Section, focusSection, type SectionID } from './base/section.js';
import { Passkeys } from './sections/passkeys.js';
import { Profile } from './sections/profile.js';
import { RecoveryNotice } from './sections/recovery.js';
import { Sessions, useSessions } from './sections/sessions.js';

const appsChunk = new Lazy(() => import('./sections/app-sections.js'));
const decisionsChunk = new Lazy(() => import('../decisions/decisions-chunk.js'));

/** A link to the console for who may list more than their own objects: Clients have no owner. */
export function ConsoleLink() {
  const { value: access } = useRead(
    () => reviewAccess({ group: 'id.vestibule.org', resource: 'clients', verb: 'list' }),
    [],
  );
  return access?.allowed ? (
    <a class="button" href="/console">
      <Icon of="layout-dashboard" />
      {t('account.console')}
    </a>
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

interface Props {
  /** Changes which sections are not shown, because there is nothing in them for this person. */
  setAbsent: (change: (absent: readonly SectionID[]) => readonly SectionID[]) => void;
  /** Above the sections. */
  children: ComponentChildren;
}

/** All sections of the page. Each loads by itself, and an error affects it alone. */
export function AccountView({ setAbsent, children }: Props) {
  const { account, step, isLive } = useAccountContext();
  const recoveries = useCollection<Recovery>('recoveries', ownedBy(account), isLive);
  const held = useSessions();
  const { loaded: menu } = useLazy(appsChunk);
  const show = useCallback(
    (id: SectionID, isShown: boolean): void =>
      setAbsent((absent) => [...absent.filter((one) => one !== id), ...(isShown ? [] : [id])]),
    [],
  );
  useEffect(() => {
    if (!step) return;
    const place = document.getElementById(sectionOf(step));
    requestAnimationFrame(() => place?.scrollIntoView());
  }, []);
  const { address } = account.status.email;
  const name = account.spec.displayName ?? address;
  return (
    <View
      title="account.title"
      heading={
        <span class="who big">
          <Face name={name} />
          <bdi>{name}</bdi>
        </span>
      }
      phase="account"
    >
      <p class="lead">
        {format('account.lead', { email: <Ltr of={address} strong /> })} {t('account.fresh')}
      </p>
      {children}
      <RecoveryNotice recoveries={recoveries} />
      <Profile />
      <Email current={held.sessions.items?.find(({ status }) => status.current)} />
      <Passkeys recoveries={recoveries} />
      <Sessions {...held} />
      {menu && (
        <>
          <menu.Apps onShown={show} />
          <menu.Grants />
          <menu.Groups onShown={show} />
        </>
      )}
      <OwnDecisions />
      {menu && <menu.Reviews />}
      <Data />
    </View>
  );
}
