import { useEffect } from 'preact/hooks';
import type { AccountApps, App } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useAppearance } from '../../base/api/appearance.js';
import { Link, hostOf } from '../../base/link.js';
import { localText, nameOf } from '../../base/text/local-text.js';
import { Ltr, Text, t } from '../../base/text/message.js';
import { Monogram } from '../../base/text/monogram.js';
import { useRead } from '../../base/api/use-read.js';
import { AccessRequests, AskForAccess } from './access-requests.js';
import { useAccountContext } from '../base/account-context.js';
import { Section, ReadError, focusSection } from '../base/section.js';
import { useAccessRequests, type AccessRequests as Requests } from './use-access-requests.js';

const byName = (apps: readonly App[]): App[] =>
  [...apps].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));

/** The name of an app beside its logo; a link if it can be started. */
function AppName({ app }: { app: App }) {
  const name = nameOf(app);
  const text = <Text of={name} />;
  return (
    <div class="party">
      <Monogram name={name} logo={app.logoURI} />
      <span class="strong">{app.startURI ? <Link to={app.startURI}>{text}</Link> : text}</span>
    </div>
  );
}

/** An app that the person can start. */
function Startable({ app }: { app: App }) {
  return (
    <li class="thing short">
      <AppName app={app} />
      <p class="hint">
        <Ltr of={hostOf(app.startURI)} />
        {app.access === 'SignInAgain' && <> · {t('apps.again')}</>}
      </p>
    </li>
  );
}

/** A link to the section of the passkeys. The address stays the same. */
const PasskeyLink = () => (
  <p class="hint">
    <a
      href="#passkeys"
      onClick={(event) => {
        event.preventDefault();
        focusSection('passkeys');
      }}
    >
      {t('apps.passkey')}
    </a>
  </p>
);

/** An app that policy refuses: the message of the rule, and what the person can do. */
function Refused({ app, requests }: { app: App; requests: Requests }) {
  return (
    <li class="thing short">
      <AppName app={app} />
      <p class="hint">
        <Text of={localText(app.reason ?? '', app.reasons)} max={500} />
      </p>
      {app.access === 'PasskeyRequired' && <PasskeyLink />}
      <AskForAccess app={app} requests={requests} />
    </li>
  );
}

/** The apps that are refused, and whom to ask. */
function RefusedApps({ apps, requests }: { apps: readonly App[]; requests: Requests }) {
  const { supportURI } = useAppearance();
  return (
    <>
      <h3 id="apps-refused">{t('apps.refused')}</h3>
      <p class="hint">
        {t('apps.ask')}{' '}
        {supportURI && (
          <Link to={supportURI} tab>
            {t('help')}
          </Link>
        )}
      </p>
      <ul class="things" aria-labelledby="apps-refused">
        {apps.map((app) => (
          <Refused key={app.client} app={app} requests={requests} />
        ))}
      </ul>
    </>
  );
}

/** The lists, or that there are no apps. */
function AppLists({ items, requests }: { items: readonly App[]; requests: Requests }) {
  const apps = byName(items);
  const startable = apps.filter(({ startURI }) => startURI !== undefined);
  const refused = apps.filter(({ startURI }) => startURI === undefined);
  return (
    <>
      {startable.length === 0 && <p class="lead">{t('apps.none')}</p>}
      {startable.length > 0 && (
        <ul class="things" aria-labelledby="apps">
          {startable.map((app) => (
            <Startable key={app.client} app={app} />
          ))}
        </ul>
      )}
      {refused.length > 0 && <RefusedApps apps={refused} requests={requests} />}
      <AccessRequests requests={requests} />
    </>
  );
}

/**
 * The apps that the person may use. Calls `onShown` with whether it is shown: not before there is an
 * answer, and not if policy does not let the person read it, as policies of earlier releases.
 */
export function Apps({ onShown }: { onShown: (id: 'apps', isShown: boolean) => void }) {
  const { account, isLive } = useAccountContext();
  const requests = useAccessRequests();
  const phases = requests.items?.map(({ status }) => status.phase).join();
  const { value, failure, reload } = useRead(
    isLive ? () => call<AccountApps>('GET', 'accounts/~/apps') : undefined,
    [account.metadata.name, account.status.passkeys, isLive, phases],
  );
  const isShown = failure ? failure.code !== 403 : value !== undefined;
  useEffect(() => onShown('apps', isShown), [isShown]);
  if (!isShown) return null;
  return (
    <Section id="apps" hint="apps.hint">
      {failure && <ReadError failure={failure} again={reload} />}
      {!failure && value && <AppLists items={value.items} requests={requests} />}
    </Section>
  );
}
