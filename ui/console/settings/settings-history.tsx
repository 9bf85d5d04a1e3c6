import { call } from '../../base/api/api.js';
import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Person } from '../access/person.js';
import { Act } from '../base/act.js';
import type { Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { English, Part } from '../base/parts.js';
import { titleOf, valueWords, type Setting, type Settings } from './setting.js';
import { onlyName, patchOf } from '../edits/use-edits.js';

type Revision = NonNullable<Settings['status']['revisions']>[number];
type Changes = Revision['changes'];

interface Props {
  kind: Kind;
  object: Settings;
  settings: readonly Setting[];
  mayChange: boolean;
  restored: (object: Settings) => void;
}

/** Returns what leads back to the values after a revision, from the newer ones, newest first. */
function wayBack(newer: readonly Revision[]): Changes {
  const values = new Map<string, Changes[number]>();
  for (const { field, from, to } of newer.flatMap(({ changes }) => changes)) {
    const { from: now = to } = values.get(field) ?? {};
    values.set(field, { field, ...(now && { from: now }), ...(from && { to: from }) });
  }
  return [...values.values()].filter(({ from, to }) => from !== to);
}

/** What a change changes, each with both values. */
const Difference = ({ changes, settings }: Pick<Props, 'settings'> & { changes: Changes }) => (
  <>
    {changes.map(({ field, from, to }) => {
      const setting = settings.find((one) => one.field === field);
      const words = (value: string | undefined): string => {
        if (value === undefined) return t('console.source.Default');
        return setting ? valueWords(setting, value) : value;
      };
      return (
        <span class="difference" key={field}>
          <English>{setting ? titleOf(setting.name) : field}</English>{' '}
          <del>
            <bdi>{words(from)}</bdi>
          </del>{' '}
          <ins>
            <bdi>{words(to)}</bdi>
          </ins>
        </span>
      );
    })}
  </>
);

/** A button that leads back to what was in force after a revision; it shows the difference first. */
function Restore({ kind, object, settings, restored, newer }: Props & { newer: Revision[] }) {
  const changes = wayBack(newer);
  const texts = Object.fromEntries(changes.map(({ field, to = '' }) => [field, to]));
  const patch = patchOf(settings, texts, object.metadata.resourceVersion);
  if (changes.length === 0) return null;
  return (
    <Act
      label={t('settings.restore')}
      command={patchCommand(kind, onlyName, patch)}
      work={async () => restored(await call<Settings>('PATCH', objectPath(kind, onlyName), patch))}
      done={t('console.edit.saved')}
    >
      <Difference changes={changes} settings={settings} />
    </Act>
  );
}

/** Who changed which settings and when, with the difference of each change and the way back. */
export function SettingsHistory(props: Props) {
  const revisions = props.object.status.revisions ?? [];
  if (revisions.length === 0) return <p class="hint">{t('settings.history.none')}</p>;
  return (
    <Part id="history" title={t('settings.history')}>
      <ul class="rows">
        {revisions.map(({ revision, timestamp, author, changes }, i) => (
          <li key={revision}>
            <div>
              <Difference changes={changes} settings={props.settings} />
              <p class="hint">
                <Timestamp of={timestamp} /> · <Person name={author} />
              </p>
            </div>
            {i > 0 && props.mayChange && <Restore {...props} newer={revisions.slice(0, i)} />}
          </li>
        ))}
      </ul>
    </Part>
  );
}
