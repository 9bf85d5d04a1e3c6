import type { Replica } from '../../api.js';
import { call } from '../../base/api/api.js';
import { now } from '../../base/api/clock.js';
import { useCollection } from '../../base/api/collection.js';
import { useRead } from '../../base/api/use-read.js';
import { Icon } from '../../base/frame/icon.js';
import { addMessages, catalogLanguage, languages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { formatDateTime } from '../../base/text/timestamp.js';
import checklist from '../../messages/en/checklist.json';
import mail from '../../messages/en/mail.json';
import overview from '../../messages/en/overview.json';
import { Act } from '../base/act.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath } from '../base/kubectl.js';
import { useLastDay } from '../base/last-day.js';
import { A, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { isMailMocked, mailFinding } from '../overview/checklist-rules.js';
import { barsOf, totalOf } from '../base/hours.js';
import { FailedMails } from './mail-failed.js';
import { MailSample, type Sample } from './mail-sample.js';

addMessages({ ...checklist, ...overview, ...mail });

/** Sends a mail to the caller by the way that codes take. */
function TestMail({ accounts }: { accounts: Kind }) {
  const { account } = useConsole();
  if (!useIsAllowed(accounts, 'create', account, 'testmail')) return null;
  const body = { apiVersion: accounts.apiVersion, kind: 'TestMail', spec: {} };
  return (
    <Act
      label={t('console.check.mail.send')}
      command={actionCommand(accounts, account, 'testmail', body)}
      work={() => call('POST', actionPath(accounts, account, 'testmail'), body)}
      done={t('mail.sent')}
    >
      {t('mail.test.what')}
    </Act>
  );
}

/** Says how many mails were sent in the last 24 hours, and whether the mail server accepts them. */
function MailState() {
  const replicas = kindOf(useConsole().listed, 'Replica');
  const { items } = useCollection<Replica>(replicas?.path);
  const [hours, bars] = [useLastDay(), barsOf('24h', now())];
  const count = (...names: string[]) => totalOf(hours, bars, { list: 'mails', names });
  const failed = count('Failed', 'Unknown');
  const { last } = mailFinding(items ?? []);
  const lastWords = last
    ? t('console.check.mail.last', { when: formatDateTime(last) })
    : t('console.check.mail.none');
  return (
    <div class={failed > 0 ? 'notice warn' : 'notice'}>
      <p>
        {failed > 0 && <Icon of="triangle-alert" />} {t('mail.day')}:{' '}
        {t('overview.mail.sent', { count: count('Sent', 'Kept') })},{' '}
        {t('overview.mail.failed', { count: failed })}.{' '}
        {items && (isMailMocked(items) ? t('mail.mocked') : lastWords)}
      </p>
    </div>
  );
}

const addressOf = (chosen: Pick<Sample, 'mail' | 'language'>): string =>
  `${pathTo('mail')}?${new URLSearchParams({ ...chosen })}`;

/** Every mail with its subject, and the one that is chosen as people get it. */
function Samples({ samples, query }: { samples: readonly Sample[]; query: URLSearchParams }) {
  const wanted = query.get('language') ?? catalogLanguage();
  const shown = samples.filter(({ language }) => language === wanted);
  const chosen = shown.find(({ mail }) => mail === query.get('mail')) ?? shown[0];
  if (!chosen) return null;
  return (
    <div class="beside">
      <ul class="rows choices" lang={wanted} dir={chosen.direction}>
        {shown.map(({ mail, language, subject }) => (
          <li key={mail}>
            <A to={addressOf({ mail, language })} current={mail === chosen.mail}>
              {subject}
            </A>
          </li>
        ))}
      </ul>
      <div class="pane">
        <div class="field">
          <label for="mail-language">{t('mail.language')}</label>
          <select
            id="mail-language"
            value={wanted}
            onInput={({ currentTarget: { value: language } }) =>
              navigate(addressOf({ mail: chosen.mail, language }), true)
            }
          >
            {[...languages].map(([tag, { name }]) => (
              <option value={tag} lang={tag}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <MailSample sample={chosen} />
      </div>
    </div>
  );
}

/** The mails of the service: whether they arrive, which did not, and what each looks like. */
export function MailView({ query }: { query: URLSearchParams }) {
  const { kinds, listed } = useConsole();
  const [accounts, invitations] = [kindOf(kinds, 'Account'), kindOf(listed, 'Invitation')];
  const path = actionPath(kindOf(kinds, 'Appearance')!, 'default', 'mails');
  const { value, failure, reload } = useRead(
    () => call<{ items: readonly Sample[] }>('GET', path),
    [path],
  );
  return (
    <Frame title="console.mail" part="mail" actions={accounts && <TestMail accounts={accounts} />}>
      <MailState />
      {invitations && <FailedMails kind={invitations} />}
      <Part id="looks" title={t('mail.looks')}>
        {failure && <Failure failure={failure} retry={reload} />}
        {!value && !failure && <Loading />}
        {value && <Samples samples={value.items} query={query} />}
      </Part>
      <Kubectl command={`kubectl get --raw ${path}`} />
    </Frame>
  );
}
