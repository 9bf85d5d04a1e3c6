import { useState } from 'preact/hooks';
import type { Replica } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { ManifestFiles } from './manifest-files.js';
import { listCommand } from '../base/kubectl.js';
import { A, English, Failure, Kubectl, Loading, searchField, Table } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import settingDescriptions from './known-settings.json' with { type: 'json' };

/** What each setting is, in English, and its default if every process has the same. */
const knownSettings: Readonly<
  Record<string, { readonly description: string; readonly value?: string }>
> = settingDescriptions;

type Setting = Replica['status']['settings'][number];

/** A setting, and whether every replica has the same value of it. */
interface SharedSetting extends Setting {
  readonly differs: boolean;
}

/**
 * Returns the settings of all replicas by name, those that operators changed first. They are not
 * the same while a release rolls out. A replica says only what differs from the default.
 */
function settingsOf(replicas: readonly Replica[]): SharedSetting[] {
  const byName = replicas.map(
    ({ status }) => new Map(status.settings.map((setting) => [setting.name, setting])),
  );
  const names = new Set([
    ...Object.keys(knownSettings),
    ...byName.flatMap((settings) => [...settings.keys()]),
  ]);
  const shared = [...names].sort().map((name) => {
    const fallback: Setting = { name, ...knownSettings[name], source: 'Default' };
    const values = byName.map((settings) => settings.get(name) ?? fallback);
    const shown = values.find(({ source }) => source !== 'Default') ?? values[0] ?? fallback;
    return { ...shown, differs: values.some((setting) => setting.value !== shown.value) };
  });
  const isChanged = ({ source }: Setting): boolean => source === 'Settings';
  return [...shared.filter(isChanged), ...shared.filter((setting) => !isChanged(setting))];
}

const matches = ({ name, value, source }: Setting, words: string): boolean =>
  [name, value, source, knownSettings[name]?.description].some((text) =>
    text?.toLowerCase().includes(words),
  );

const columns = ['name', 'value', 'source', 'what'] as const;

const Rows = ({ settings }: { settings: readonly SharedSetting[] }) => (
  <Table
    label={t('console.settings')}
    columns={columns.map((column) => t(`console.setting.${column}`))}
    wraps
  >
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
  </Table>
);

/** The form of the settings that need no restart, offered to who may change them. */
function ChangeLink({ kind }: { kind: Kind }) {
  const isAllowed = useIsAllowed(kind, 'patch', 'default');
  if (!isAllowed) return null;
  return <A to={pathTo(kind.resource, 'default', 'edit')}>{t('console.settings.change')}</A>;
}

/** The settings in force with their source; `find` in the address searches them. */
export function SettingsView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { items, failure, reload } = useCollection<Replica>(kind.path);
  const changeable = kindOf(useConsole().listed, 'Settings');
  const [typed, setTyped] = useState(query.get('find') ?? '');
  const found = settingsOf(items ?? []).filter((setting) =>
    matches(setting, typed.trim().toLowerCase()),
  );
  return (
    <Frame title="console.settings" part="settings">
      <p class="lead">{t('console.settings.lead')}</p>
      {changeable && <ChangeLink kind={changeable} />}
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && (
        <>
          <ManifestFiles replicas={items} />
          <Form look="search" role="search" onSubmit={() => undefined}>
            <Field {...searchField} label={t('console.search')} value={typed} onText={setTyped} />
          </Form>
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
