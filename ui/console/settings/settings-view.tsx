import { useState } from 'preact/hooks';
import type { Replica } from '../../api.js';
import { call } from '../../base/api/api.js';
import { now } from '../../base/api/clock.js';
import { useCollection } from '../../base/api/collection.js';
import { useRead } from '../../base/api/use-read.js';
import { Icon } from '../../base/frame/icon.js';
import { Status } from '../../base/status.js';
import { addMessages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import messages from '../../messages/en/settings.json';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { getCommand, objectPath, patchCommand } from '../base/kubectl.js';
import { useLastDay } from '../base/last-day.js';
import { A, Failure, Kubectl, Loading } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { Unsaved } from '../edits/unsaved.js';
import { onlyName, useEdits } from '../edits/use-edits.js';
import { useObject } from '../base/use-object.js';
import { barsOf, reasonsOf } from '../base/hours.js';
import { SearchBox } from '../table/table-tools.js';
import { ManifestFiles } from './manifest-files.js';
import {
  groupOf,
  groups,
  isFixed,
  matches,
  settingsOf,
  type Setting,
  type Settings,
} from './setting.js';
import { SettingTable } from './setting-table.js';
import { SettingsHistory } from './settings-history.js';

addMessages(messages);

const addressOf = (query: Readonly<Record<string, string>>): string => {
  const words = new URLSearchParams(query).toString();
  return words ? `${pathTo('settings')}?${words}` : pathTo('settings');
};

const isChanged = ({ source }: Setting): boolean => source === 'Settings';
const isSetAtStart = (setting: Setting): boolean =>
  isFixed(setting) && setting.source !== 'Default';

/** The refusals of each limit in the last 24 hours, by the name of its setting. */
function useRefused(): ReadonlyMap<string, number> {
  const reasons = reasonsOf(useLastDay(), barsOf('24h', now()));
  return new Map(
    reasons.filter(({ by }) => by === 'limit').map(({ name, count }) => [name, count]),
  );
}

/** The object Settings with what is in force, which only a read of the object itself says. */
function useSettings(kind: Kind) {
  const { object: watched } = useObject<Settings>(kind, onlyName);
  const [answer, setAnswer] = useState<Settings>();
  const version = watched?.metadata.resourceVersion;
  const { value, failure, reload } = useRead(
    () => call<Settings>('GET', objectPath(kind, onlyName)),
    [version],
  );
  const isNewer =
    Number(answer?.metadata.resourceVersion) > Number(value?.metadata.resourceVersion);
  return { object: isNewer ? answer : value, failure, reload, setAnswer };
}

/** The groups of settings to choose from; changed ones first. */
function Groups({ shown, all }: { shown: string; all: readonly Setting[] }) {
  const counts = { changed: all.filter(isChanged).length, fixed: all.filter(isSetAtStart).length };
  return (
    <nav class="sections" aria-label={t('console.settings')}>
      <ul>
        {(['changed', ...groups, 'fixed'] as const).map((group) => (
          <li key={group}>
            <A to={addressOf(group === 'changed' ? {} : { show: group })} current={shown === group}>
              {t(`settings.group.${group}`)}{' '}
              {(group === 'changed' || group === 'fixed') && counts[group]}
            </A>
          </li>
        ))}
      </ul>
    </nav>
  );
}

type Shown = Omit<Parameters<typeof SettingTable>[0], 'title' | 'settings'> & {
  all: readonly Setting[];
  query: URLSearchParams;
};

/** The settings that the address asks for: those found, of a group, or those that differ. */
function Tables({ all, query, ...shared }: Shown) {
  const words = query.get('find')?.toLowerCase();
  const show = query.get('show') ?? 'changed';
  const group = groups.find((one) => one === show);
  const table = (title: string, settings: readonly Setting[]) => (
    <SettingTable {...shared} title={title} settings={settings} />
  );
  if (words) {
    const found = all.filter((setting) => matches(setting, words));
    return (
      <>
        {table(t('settings.found'), found)}
        <Status look="hint count">
          {found.length > 0 ? t('console.shown', { count: found.length }) : t('console.notfound')}
        </Status>
      </>
    );
  }
  if (group) {
    return table(
      t(`settings.group.${group}`),
      all.filter((setting) => groupOf(setting) === group),
    );
  }
  const changed = all.filter(isChanged);
  const fixed = all.filter(isSetAtStart);
  if (show === 'fixed') return table(t('settings.fixed'), fixed);
  return (
    <>
      {changed.length === 0 && <p class="hint">{t('settings.unchanged')}</p>}
      {table(t('settings.changed'), changed)}
      {table(
        t('settings.refusing'),
        all.filter((setting) => shared.refused.has(setting.name) && !isChanged(setting)),
      )}
      {table(t('settings.fixed'), fixed)}
    </>
  );
}

const HistoryLink = ({ isShown }: { isShown: boolean }) => (
  <A look="button quiet-button" to={addressOf(isShown ? {} : { show: 'history' })}>
    <Icon of={isShown ? 'sliders-horizontal' : 'clock'} />
    {t(isShown ? 'console.settings' : 'settings.history')}
  </A>
);

/** All settings in force with their source, changed in their place, and how they were before. */
export function SettingsView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { object, failure, reload, setAnswer } = useSettings(kind);
  const { items: replicas = [] } = useCollection<Replica>(
    kindOf(useConsole().listed, 'Replica')?.path,
  );
  const mayChange = useIsAllowed(kind, 'patch', onlyName);
  const refused = useRefused();
  const all = settingsOf(replicas, object?.status.effective ?? []);
  const edits = useEdits<Settings>(kind, all, object?.metadata.resourceVersion, setAnswer);
  const isHistory = query.get('show') === 'history';
  const words = query.get('find') ?? '';
  return (
    <Frame
      title="console.settings"
      part="settings"
      actions={
        <>
          {Object.keys(edits.texts).length > 1 && (
            <Unsaved edits={edits} words={t('settings.save')} />
          )}
          <HistoryLink isShown={isHistory} />
        </>
      }
    >
      {failure && <Failure failure={failure} retry={reload} />}
      {edits.failure && edits.failure.code !== 422 && <Failure failure={edits.failure} isChange />}
      {isHistory && object && (
        <SettingsHistory
          kind={kind}
          object={object}
          settings={all}
          mayChange={mayChange}
          restored={setAnswer}
        />
      )}
      {!object && !failure && <Loading />}
      {!isHistory && object && (
        <>
          <div class="table-tools">
            <SearchBox
              label={t('console.setting.name')}
              words={words}
              onSearch={(find) => navigate(addressOf(find ? { find } : {}), true)}
            />
            <span class="hint">{t('settings.everywhere')}</span>
          </div>
          {!words && <Groups shown={query.get('show') ?? 'changed'} all={all} />}
          <Tables all={all} query={query} edits={edits} mayChange={mayChange} refused={refused} />
          <ManifestFiles replicas={replicas} />
        </>
      )}
      <Kubectl
        command={
          edits.patch ? patchCommand(kind, onlyName, edits.patch) : getCommand(kind, onlyName)
        }
      />
    </Frame>
  );
}
