import { useState } from 'preact/hooks';
import type { Replica } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { ManifestFiles } from './manifest-files.js';
import { listCommand } from '../base/kubectl.js';
import { English, Failure, Kubectl, Loading } from '../base/parts.js';
import { knownSettings } from './known-settings.gen.js';

type Setting = Replica['status']['settings'][number];

/** A setting, and whether every replica has the same value of it. */
interface SharedSetting extends Setting {
  readonly differs: boolean;
}

/**
 * Returns the settings of all replicas by name, which are not the same while a release rolls out. A
 * replica says only what differs from the default.
 */
function settingsOf(replicas: readonly Replica[]): SharedSetting[] {
  const byName = replicas.map(
    ({ status }) => new Map(status.settings.map((setting) => [setting.name, setting])),
  );
  const names = new Set([
    ...Object.keys(knownSettings),
    ...byName.flatMap((one) => [...one.keys()]),
  ]);
  return [...names].sort().map((name) => {
    const fallback: Setting = { name, ...knownSettings[name], source: 'Default' };
    const all = byName.map((one) => one.get(name) ?? fallback);
    const shown = all.find(({ source }) => source !== 'Default') ?? all[0] ?? fallback;
    return { ...shown, differs: all.some((one) => one.value !== shown.value) };
  });
}

const matches = ({ name, value, source }: Setting, words: string): boolean =>
  [name, value, source, knownSettings[name]?.description].some((text) =>
    text?.toLowerCase().includes(words),
  );

const columns = ['name', 'value', 'source', 'what'] as const;

const Rows = ({ settings }: { settings: readonly SharedSetting[] }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
  <div class="table wraps" role="region" tabIndex={0} aria-label={t('console.settings')}>
    <table>
      <thead>
        <tr>
          {columns.map((one) => (
            <th scope="col">{t(`console.setting.${one}`)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {settings.map(({ name, value, source, differs }) => (
          <tr key={name}>
            <th scope="row">
              <English>{name}</English>
            </th>
            <td>
              {value === undefined ? t('console.none') : <bdi dir="ltr">{value}</bdi>}
              {differs && <p class="fault">{t('console.settings.differ')}</p>}
            </td>
            <td>{t(`console.source.${source}`)}</td>
            <td>
              <English>{knownSettings[name]?.description}</English>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The settings in force with their source. */
export function SettingsView({ kind }: { kind: Kind }) {
  const { items, failure, reload } = useCollection<Replica>(kind.path);
  const [typed, setTyped] = useState('');
  const found = settingsOf(items ?? []).filter((one) => matches(one, typed.trim().toLowerCase()));
  return (
    <Frame title="console.settings" part="settings">
      <p class="lead">{t('console.settings.lead')}</p>
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && (
        <>
          <ManifestFiles replicas={items} />
          <form
            class="search"
            role="search"
            method="post"
            onSubmit={(event) => event.preventDefault()}
          >
            <div class="field">
              <label for="find">{t('console.search')}</label>
              <input
                id="find"
                type="search"
                autoComplete="off"
                autoCapitalize="none"
                spellcheck={false}
                value={typed}
                onInput={({ currentTarget }) => setTyped(currentTarget.value)}
              />
            </div>
          </form>
          {found.length > 0 && <Rows settings={found} />}
          <Status look="hint count">
            {found.length ? t('console.shown', { count: found.length }) : t('console.notfound')}
          </Status>
        </>
      )}
      <Kubectl command={`${listCommand(kind, {})} -o yaml`} />
    </Frame>
  );
}
