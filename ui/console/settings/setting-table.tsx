import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Form } from '../../base/form.js';
import { Icon } from '../../base/frame/icon.js';
import { locale } from '../../base/text/i18n.js';
import { Ltr, t } from '../../base/text/message.js';
import { English } from '../base/parts.js';
import { isFixed, titleOf, valueWords, type Setting } from './setting.js';
import type { Edits } from '../edits/use-edits.js';

interface RowProps {
  readonly setting: Setting;
  readonly edits: Edits;
  /** The caller may change Settings. */
  readonly mayChange: boolean;
}

const Value = ({ setting }: { setting: Setting }) => (
  <bdi title={setting.value}>
    {setting.value ? valueWords(setting, setting.value) : t('console.none')}
  </bdi>
);

/** The field of one setting with its faults, in the place of its value. */
function Editor({ setting, edits }: RowProps) {
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null);
  // Before the next key, which is meant for the field.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select?.();
  }, []);
  const { field = '', name, value = '', fallback, oneOf } = setting;
  const fault = edits.faults[field];
  const [text, isAlone] = [edits.texts[field]!, Object.keys(edits.texts).length === 1];
  const shared = {
    ref: input,
    value: text,
    'aria-label': titleOf(name),
    'aria-invalid': fault ? true : undefined,
    'aria-describedby': `${name}-about`,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      edits.type(field, currentTarget.value),
  };
  const cancel = (): void => {
    edits.type(field, undefined);
    requestAnimationFrame(() => document.getElementById(`change-${name}`)?.focus());
  };
  return (
    <Form look="inline-edit" onSubmit={edits.save}>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- Escape leaves the field */}
      <span onKeyDown={({ key }) => key === 'Escape' && cancel()}>
        {oneOf ? (
          <select {...shared}>
            {oneOf.map((one) => (
              <option value={one}>{one}</option>
            ))}
          </select>
        ) : (
          <input
            {...shared}
            type="text"
            dir="ltr"
            autoComplete="off"
            placeholder={fallback ?? ''}
          />
        )}
      </span>
      {isAlone && (
        <Button variant="main" submit busy={edits.busy} progress="console.saving">
          {t('console.save')}
        </Button>
      )}
      <Button variant="plain" onPress={cancel}>
        {t('console.cancel')}
      </Button>
      <span class={fault ? 'error' : 'hint'} id={`${name}-about`}>
        {fault ? <English>{fault}</English> : t('settings.now', { value })}
        {!fault && setting.source === 'Settings' && ` ${t('settings.empty')}`}
      </span>
    </Form>
  );
}

/** The value of a setting: fixed, to be changed, or in its field. */
function ValueCell({ setting, edits, mayChange }: RowProps) {
  const { field, name, value = '', differs } = setting;
  if (field && edits.texts[field] !== undefined) {
    return <Editor setting={setting} edits={edits} mayChange={mayChange} />;
  }
  return (
    <span class="value">
      {isFixed(setting) && <Icon of="lock" />}
      <Value setting={setting} />
      {field && mayChange && !isFixed(setting) && (
        <button
          type="button"
          id={`change-${name}`}
          class="button small icon-only quiet-button"
          aria-label={t('settings.change', { setting: titleOf(name) })}
          onClick={() => edits.type(field, value)}
        >
          <Icon of="pencil" />
        </button>
      )}
      {field && edits.saved.includes(field) && (
        <span class="saved">
          <Icon of="check" /> {t('console.edit.saved')}
        </span>
      )}
      {differs && <span class="fault">{t('console.settings.differ')}</span>}
    </span>
  );
}

/** How often the limit refused something, as a bar and a number. */
const Refusals = ({ count, most }: { count: number; most: number }) => (
  <>
    <svg class="share limit" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width={Math.max(4, (100 * count) / most)} height="1" />
    </svg>
    {new Intl.NumberFormat(locale()).format(count)}
  </>
);

/** Where a fixed setting is fixed. */
function FixedBy({ setting: { name, source, field } }: { setting: Setting }) {
  if (source === 'Default') return <>{field === undefined && t('settings.start')}</>;
  return (
    <>
      {t(`console.source.${source}`)} {source === 'Flag' && <Ltr of={`--${name}`} />}
    </>
  );
}

interface Props {
  title: string;
  settings: readonly Setting[];
  edits: Edits;
  mayChange: boolean;
  /** How often each limit refused something in the last 24 hours, by the name of its setting. */
  refused: ReadonlyMap<string, number>;
}

/** A table of settings under its title. */
export function SettingTable({ title, settings, edits, mayChange, refused }: Props) {
  if (settings.length === 0) return null;
  const most = Math.max(1, ...refused.values());
  const areFixed = settings.every(isFixed);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
    <div class="table settings" role="region" tabIndex={0} aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col">{t('console.setting.value')}</th>
            <th scope="col">{t('console.source.Default')}</th>
            <th scope="col">{t(areFixed ? 'settings.fixed.by' : 'settings.refused')}</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((setting) => (
            <tr key={setting.name}>
              <th scope="row" title={setting.name}>
                <English>{titleOf(setting.name)}</English>
                <span class="hint">
                  <English>{setting.description}</English>
                </span>
              </th>
              <td>
                <ValueCell setting={setting} edits={edits} mayChange={mayChange} />
              </td>
              <td class="soft">
                <bdi>{setting.fallback ? valueWords(setting, setting.fallback) : '–'}</bdi>
              </td>
              <td class="soft">
                {refused.has(setting.name) && (
                  <Refusals count={refused.get(setting.name)!} most={most} />
                )}{' '}
                {isFixed(setting) && <FixedBy setting={setting} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
