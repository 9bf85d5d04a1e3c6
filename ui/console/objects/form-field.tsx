import type { ComponentChildren } from 'preact';
import { Button } from '../../base/button.js';
import { t } from '../../base/text/message.js';
import { useDocument } from '../base/console-context.js';
import { shapeOf, toDraft, type Draft } from '../base/draft.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { English } from '../base/parts.js';
import { ColorPicker, FilePicker, type ControlAttributes } from './pickers.js';
import { propertyOf, resolve, type Schema } from '../base/schema.js';

/** What all fields of a form share. */
export interface FieldProps {
  readonly schema: Schema;
  readonly name: string;
  readonly path: string;
  readonly draft: Draft;
  /** The value that the draft was made of. */
  readonly before: unknown;
  readonly isRequired: boolean;
  /** Returns the errors of a path. */
  readonly errorsAt: (path: string) => readonly ComponentChildren[];
  readonly onDraft: (draft: Draft) => void;
}

/** Returns the ID of the control of a field. */
export const idOf = (path: string): string => `field-${path}`;

function defaultOf({ default: value }: Schema): string | undefined {
  if (value === undefined || isObject(value)) return undefined;
  if (!Array.isArray(value)) return String(value);
  return value.length
    ? value.map((item) => (isObject(item) ? JSON.stringify(item) : item)).join(', ')
    : undefined;
}

function Hint({ schema, path, note }: { schema: Schema; path: string; note: string | undefined }) {
  const fallback = defaultOf(schema);
  if (!schema.description && !fallback && !note) return null;
  return (
    <p class="hint" id={`${idOf(path)}-hint`}>
      {schema.description && <English>{schema.description}</English>} {note}{' '}
      {fallback && t('console.default', { value: fallback })}
    </p>
  );
}

const Errors = ({ path, errors }: { path: string; errors: readonly ComponentChildren[] }) =>
  errors.length ? (
    <div id={`${idOf(path)}-error`}>
      {errors.map((error) => (
        <p class="error">{error}</p>
      ))}
    </div>
  ) : null;

const Required = () => <span class="hint"> {t('console.required')}</span>;

const notes = {
  lines: 'console.lines',
  pairs: 'console.pairs',
  json: 'console.json',
} as const;

const isLong = ({ maxLength, pattern }: Schema, text: string): boolean =>
  text.includes('\n') || (!pattern && (maxLength ?? 0) >= 1024);

function Control({
  shape,
  described,
  ...field
}: FieldProps & { shape: string; described: string }) {
  const { schema, path, draft, isRequired, errorsAt, onDraft, before } = field;
  const text = draft as string;
  const shared: ControlAttributes = {
    id: idOf(path),
    value: text,
    'aria-describedby': described || undefined,
    'aria-invalid': errorsAt(path).length ? true : undefined,
    'aria-required': isRequired || undefined,
    onInput: ({ currentTarget }) => onDraft(currentTarget.value),
  };
  if (shape === 'choice' || shape === 'boolean') {
    const choices: readonly (readonly [string, string])[] =
      shape === 'boolean'
        ? [
            ['true', t('yes')],
            ['false', t('no')],
          ]
        : schema.enum!.map((option) => [String(option), String(option)]);
    return (
      <select {...shared}>
        {(!isRequired || before === undefined) && <option value="">—</option>}
        {choices.map(([value, words]) => (
          <option value={value}>{words}</option>
        ))}
      </select>
    );
  }
  if (shape === 'file') return <FilePicker {...shared} name={field.name} />;
  if (shape === 'color') return <ColorPicker {...shared} name={field.name} />;
  const isCode = shape === 'json' || shape === 'pairs';
  if (shape === 'text' && schema.writeOnly) {
    return <input {...shared} type="password" autoComplete="new-password" dir="ltr" />;
  }
  if (shape === 'text' && !isLong(schema, text)) {
    return <input {...shared} type="text" autoComplete="off" spellcheck={false} dir="auto" />;
  }
  if (shape === 'number') {
    return <input {...shared} type="text" inputMode="numeric" autoComplete="off" dir="ltr" />;
  }
  return (
    <textarea
      {...shared}
      class={isCode || isLong(schema, text) ? 'mono' : undefined}
      rows={Math.min(24, Math.max(3, text.split('\n').length + 1))}
      spellcheck={false}
      dir={isCode ? 'ltr' : 'auto'}
    />
  );
}

function Choices({ schema, path, draft, onDraft, described }: FieldProps & { described: string }) {
  const document = useDocument();
  const chosen = draft as readonly string[];
  const options = [...new Set([...resolve(document, schema.items!).enum!.map(String), ...chosen])];
  const toggle = (value: string): void =>
    onDraft(
      chosen.includes(value) ? chosen.filter((choice) => choice !== value) : [...chosen, value],
    );
  return (
    <div class="checks" id={idOf(path)} tabIndex={-1} aria-describedby={described || undefined}>
      {options.map((value) => (
        <label>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />{' '}
          <bdi dir="ltr">{value}</bdi>
        </label>
      ))}
    </div>
  );
}

function Items({ schema, name, path, draft, errorsAt, onDraft }: FieldProps) {
  const document = useDocument();
  const items = resolve(document, schema.items!);
  const list = draft as readonly Draft[];
  return (
    <div class="items" id={idOf(path)} tabIndex={-1}>
      {list.map((item, i) => (
        <fieldset class="item">
          <legend>
            <English>{`${name} ${i + 1}`}</English>
          </legend>
          <FormFields
            schema={items}
            path={`${path}[${i}]`}
            draft={item as JsonObject}
            before={undefined}
            errorsAt={errorsAt}
            onDraft={(next) => onDraft(list.with(i, next))}
          />
          <Button variant="small" onPress={() => onDraft(list.filter((_, n) => n !== i))}>
            {t('console.item.remove', { item: `${name} ${i + 1}` })}
          </Button>
        </fieldset>
      ))}
      <Button
        variant="small"
        onPress={() => onDraft([...list, toDraft(document, items, undefined)])}
      >
        {t('console.item.add', { item: name })}
      </Button>
    </div>
  );
}

function Group(field: FieldProps) {
  const { schema, name, path, draft, before, isRequired, errorsAt, onDraft } = field;
  const isOpen = isRequired || before !== undefined;
  return (
    <details class="group-field" open={isOpen}>
      <summary>
        <English>{name}</English>
        {isRequired && <Required />}
      </summary>
      <Hint schema={schema} path={path} note={undefined} />
      <Errors path={path} errors={errorsAt(path)} />
      <FormFields
        schema={schema}
        path={path}
        draft={draft as JsonObject}
        before={isObject(before) ? before : undefined}
        errorsAt={errorsAt}
        onDraft={onDraft}
      />
    </details>
  );
}

function FormField(field: FieldProps) {
  const document = useDocument();
  const { schema, name, path, isRequired, errorsAt, before } = field;
  const shape = shapeOf(document, schema, before);
  if (shape === 'group') return <Group {...field} />;
  const note = shape in notes ? t(notes[shape as keyof typeof notes]) : undefined;
  const errors = errorsAt(path);
  const hasHint = Boolean(schema.description ?? defaultOf(schema) ?? note);
  const described = [errors.length && `${idOf(path)}-error`, hasHint && `${idOf(path)}-hint`]
    .filter(Boolean)
    .join(' ');
  const title = (
    <>
      <English>{name}</English>
      {isRequired && <Required />}
    </>
  );
  const about = (
    <>
      <Errors path={path} errors={errors} />
      <Hint schema={schema} path={path} note={note} />
    </>
  );
  if (shape === 'choices' || shape === 'items') {
    return (
      <fieldset class="field">
        <legend>{title}</legend>
        {shape === 'items' ? <Items {...field} /> : <Choices {...field} described={described} />}
        {about}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={idOf(path)}>{title}</label>
      <Control {...field} shape={shape} described={described} />
      {about}
    </div>
  );
}

interface FieldsProps extends Pick<FieldProps, 'schema' | 'path' | 'errorsAt'> {
  readonly draft: JsonObject;
  readonly before: JsonObject | undefined;
  readonly onDraft: (draft: { readonly [name: string]: Draft }) => void;
}

/** A field for each property of a schema, under a path of the object. */
export function FormFields({ schema, path, draft, before, errorsAt, onDraft }: FieldsProps) {
  const document = useDocument();
  return (
    <>
      {Object.keys(schema.properties ?? {}).map((name) => (
        <FormField
          key={name}
          schema={propertyOf(document, schema, name)}
          name={name}
          path={path ? `${path}.${name}` : name}
          draft={draft[name] as Draft}
          before={before?.[name]}
          isRequired={schema.required?.includes(name) ?? false}
          errorsAt={errorsAt}
          onDraft={(next) => onDraft({ ...(draft as Record<string, Draft>), [name]: next })}
        />
      ))}
    </>
  );
}
