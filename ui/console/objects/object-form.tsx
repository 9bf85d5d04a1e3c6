import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Form } from '../../base/form.js';
import { t } from '../../base/text/message.js';
import type { Draft, Faults } from '../base/draft.js';
import { FormFields, idOf } from './form-field.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { English, Failure, Kubectl } from '../base/parts.js';
import type { Schema } from '../base/schema.js';

/** The longest command that is shown: a shell takes no argument as long as a file. */
const maxCommandLength = 100_000;

interface FieldError {
  readonly field: string;
  readonly text: ComponentChildren;
}

function errorsOf(failure: ApiError | undefined, faults: Faults | undefined): FieldError[] {
  const causes = failure?.code === 422 ? (failure.details.causes ?? []) : [];
  return [
    ...[...(faults ?? [])].map(([field, id]) => ({ field, text: t(id) })),
    ...causes.map(({ field = '', message }) => ({ field, text: <English>{message}</English> })),
  ];
}

/** Returns where the path of what contains a field ends: spec.list for spec.list[0]. */
const containerEnd = (path: string): number =>
  Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('['));

/** Returns the element that shows a field, or what contains it. */
function elementOf(field: string): HTMLElement | undefined {
  for (let path = field; path; path = path.slice(0, containerEnd(path))) {
    const element = document.getElementById(idOf(path));
    if (element) return element;
  }
  return undefined;
}

function goTo(field: string): void {
  const element = elementOf(field);
  element?.closest('details')?.setAttribute('open', '');
  element?.focus();
}

/** The errors of a form, each with a link to its field. It takes the focus when they come. */
function Summary({
  errors,
  failure,
}: {
  errors: readonly FieldError[];
  failure: ApiError | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const key = errors.map(({ field }) => field).join() + String(failure?.code);
  useEffect(() => {
    if (errors.length || failure) box.current?.focus();
  }, [key, failure]);
  if (!errors.length && !failure) return null;
  return (
    <div ref={box} tabIndex={-1} class="summary">
      {failure && !errors.length && <Failure failure={failure} isChange />}
      {errors.length > 0 && (
        <div class="notice bad">
          <p>{t('console.faults', { count: errors.length })}</p>
          <ul>
            {errors.map(({ field, text }) => (
              <li>
                <a
                  href={`#${idOf(field)}`}
                  onClick={(event) => {
                    event.preventDefault();
                    goTo(field);
                  }}
                >
                  <English>{field}</English>
                </a>
                : {text}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

type DraftParts = Readonly<Record<'metadata' | 'spec', { readonly [name: string]: Draft }>>;

interface PartsProps {
  schema: Schema;
  draft: DraftParts;
  before: JsonObject | undefined;
  errorsAt: (path: string) => readonly ComponentChildren[];
  onDraft: (draft: DraftParts) => void;
}

/** The name of an object first, if it needs one, then its spec, and its other metadata folded. */
function Parts({ schema, draft, before, errorsAt, onDraft }: PartsProps) {
  const { metadata = {}, spec = {} } = schema.properties ?? {};
  const { name, ...others } = metadata.properties ?? {};
  const part = (path: 'metadata' | 'spec', shown: Schema) => {
    const former = before?.[path];
    return (
      <FormFields
        schema={shown}
        path={path}
        draft={draft[path]}
        before={isObject(former) ? former : undefined}
        errorsAt={errorsAt}
        onDraft={(next) => onDraft({ ...draft, [path]: next })}
      />
    );
  };
  return (
    <>
      {name && part('metadata', { properties: { name }, required: ['name'] })}
      {part('spec', spec)}
      <details class="group-field" open={before?.metadata !== undefined}>
        <summary>{t('console.metadata')}</summary>
        {part('metadata', { properties: others })}
      </details>
    </>
  );
}

interface Props {
  schema: Schema;
  draft: Draft;
  before: JsonObject | undefined;
  busy: boolean;
  failure: ApiError | undefined;
  faults: Faults | undefined;
  /** What the form would send, as a command; undefined if it is not complete. */
  command: string | undefined;
  /** What was typed before a sign-in or a reload is shown. */
  isRestored: boolean;
  save: string;
  onDraft: (draft: Draft) => void;
  onSave: () => void;
  onCancel: () => void;
}

/** The form of an object, made of its schema. */
export function ObjectForm({ schema, draft, failure, faults, onDraft, onSave, ...rest }: Props) {
  const errors = errorsOf(failure, faults);
  const errorsAt = (path: string): readonly ComponentChildren[] =>
    errors
      .filter(({ field }) => {
        const isBelow = field.startsWith(`${path}[`) || field.startsWith(`${path}.`);
        return field === path || (isBelow && elementOf(field)?.id === idOf(path));
      })
      .map(({ field, text }) =>
        field === path ? (
          text
        ) : (
          <>
            {field.slice(path.length)} {text}
          </>
        ),
      );
  return (
    <Form onSubmit={onSave}>
      <Summary errors={errors} failure={failure} />
      {rest.isRestored && <p class="notice">{t('console.restored')}</p>}
      <Parts
        schema={schema}
        draft={draft as DraftParts}
        before={rest.before}
        errorsAt={errorsAt}
        onDraft={onDraft}
      />
      {rest.command && rest.command.length < maxCommandLength && <Kubectl command={rest.command} />}
      <div class="pair">
        <Button variant="main" submit busy={rest.busy} progress="console.saving">
          {rest.save}
        </Button>
        <Button onPress={rest.onCancel}>{t('console.cancel')}</Button>
      </div>
    </Form>
  );
}
