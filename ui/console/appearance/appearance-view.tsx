import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { contrast, minContrast } from '../../../kinds/appearance/contrast.js';
import { backgrounds, palettesOf } from '../../../kinds/appearance/palette.js';
import type { Appearance } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { Icon } from '../../base/frame/icon.js';
import { addMessages, locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import messages from '../../messages/en/appearance.json';
import signin from '../../messages/en/signin.json';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { getCommand, objectPath, patchCommand } from '../base/kubectl.js';
import { English, Failure, Kubectl, Loading } from '../base/parts.js';
import { Unsaved } from '../edits/unsaved.js';
import { onlyName, useEdits } from '../edits/use-edits.js';
import type { Texts } from '../edits/use-faults.js';
import { useSignInFor } from '../base/use-request.js';
import { ColorPicker, FilePicker } from '../objects/pickers.js';
import { isColor, Logo, SignInPreview } from './appearance-preview.js';

addMessages({ ...signin, ...messages });

const links = ['supportURI', 'privacyPolicyURI', 'termsOfServiceURI'] as const;
const fields = ['displayName', 'logo', 'accentColor', ...links] as const;

/** The look in force, what is typed over it, and both as people would see it. */
function useLook(kind: Kind) {
  const path = objectPath(kind, onlyName);
  const read = useRead(() => call<Appearance>('GET', path), [path]);
  const [answer, setAnswer] = useState<Appearance>();
  useSignInFor(read.failure);
  const { metadata, spec } = answer ?? read.value ?? {};
  const known = fields.map((field) => ({ field, value: spec?.[field] }));
  const edits = useEdits<Appearance>(kind, known, metadata?.resourceVersion, setAnswer);
  const shown: Texts = { ...spec, ...edits.texts };
  return { read, edits, spec: shown };
}

type Look = ReturnType<typeof useLook>;

/** Whether text of a colour can be read on another one, with their contrast. */
const Contrast = ({ words, pair }: { words: string; pair: readonly [string, string] }) => {
  const ratio = contrast(...pair);
  const shown = new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 }).format(
    Math.floor(ratio * 10) / 10,
  );
  return (
    <li class={ratio < minContrast ? 'low' : undefined}>
      <Icon of={ratio < minContrast ? 'triangle-alert' : 'check'} />
      <span>{words}</span>
      <bdi dir="ltr">{shown} : 1</bdi>
    </li>
  );
};

/** The contrasts of an accent colour: as a button, as a link, and what dark pages make of it. */
function Contrasts({ color }: { color: string }) {
  const { light, dark } = backgrounds;
  const onDark = palettesOf(color).dark.accent;
  return (
    <ul class="contrasts">
      <Contrast words={t('appearance.on')} pair={[color, light.card]} />
      <Contrast words={t('appearance.page')} pair={[color, light.ground]} />
      <Contrast words={t('appearance.dark.text', { color: onDark })} pair={[onDark, dark.card]} />
    </ul>
  );
}

interface ControlProps {
  field: 'logo' | 'accentColor';
  look: Look;
  children: ComponentChildren;
}

/** A field whose control is no text alone, with its label, its fault and its help. */
function Control({ field, look, children }: ControlProps) {
  const fault = look.edits.faults[field];
  return (
    <div class="field">
      <label for={field}>{t(`appearance.${field}`)}</label>
      {children}
      {fault && (
        <p class="error" id={`${field}-error`}>
          <English>{fault}</English>
        </p>
      )}
      <p class="hint" id={`${field}-hint`}>
        {t(`appearance.${field}.hint`)}
      </p>
    </div>
  );
}

/** The fields of the look: name, logo, colour and links. */
function Fields({ look }: { look: Look }) {
  const {
    spec,
    edits: { faults, type, save },
  } = look;
  const shared = (field: 'logo' | 'accentColor') => ({
    id: field,
    name: t(`appearance.${field}`),
    value: spec[field] ?? '',
    'aria-describedby': `${faults[field] ? `${field}-error ` : ''}${field}-hint`,
    'aria-invalid': faults[field] ? (true as const) : undefined,
    'aria-required': undefined,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      type(field, currentTarget.value),
  });
  const text = (field: 'displayName' | (typeof links)[number]) => (
    <Field
      id={field}
      label={t(`appearance.${field}`)}
      hint={t(`appearance.${field}.hint`)}
      value={spec[field] ?? ''}
      error={faults[field]}
      keepFocus
      autoComplete="off"
      dir={field === 'displayName' ? 'auto' : 'ltr'}
      onText={(next) => type(field, next)}
    />
  );
  return (
    <Form onSubmit={save}>
      {text('displayName')}
      <Control field="logo" look={look}>
        {spec.logo && (
          <p class="logos" aria-hidden="true">
            {(['light', 'dark'] as const).map((scheme) => (
              <span key={scheme} class={`look ${scheme}`}>
                <Logo value={spec.logo!} size={32} />
              </span>
            ))}
          </p>
        )}
        <FilePicker {...shared('logo')} />
      </Control>
      <Control field="accentColor" look={look}>
        <ColorPicker {...shared('accentColor')} />
        {isColor(spec.accentColor) && <Contrasts color={spec.accentColor!} />}
      </Control>
      {links.map(text)}
    </Form>
  );
}

/** The look of the pages and mails, and the sign-in page beside it while it is chosen. */
export function AppearanceView({ kind }: { kind: Kind }) {
  const look = useLook(kind);
  const { read, edits } = look;
  const { patch, failure } = edits;
  const command = patch ? patchCommand(kind, onlyName, patch) : getCommand(kind, onlyName);
  return (
    <Frame
      title="console.appearance"
      part="appearance"
      actions={<Unsaved edits={edits} words={t('console.save')} />}
    >
      {read.failure && <Failure failure={read.failure} retry={read.reload} />}
      {failure && failure.code !== 422 && <Failure failure={failure} isChange />}
      {!read.value && !read.failure && <Loading />}
      {read.value && (
        <div class="appearance">
          <Fields look={look} />
          <div class="looks">
            <SignInPreview spec={look.spec} scheme="light" />
            <SignInPreview spec={look.spec} scheme="dark" />
          </div>
        </div>
      )}
      {command.length < 10_000 && <Kubectl command={command} />}
    </Frame>
  );
}
