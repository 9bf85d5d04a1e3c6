import type { ComponentChild, PartialInputHTMLAttributes } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type NativeAttribute =
  | 'name'
  | 'value'
  | 'autoComplete'
  | 'autoCapitalize'
  | 'inputMode'
  | 'spellcheck'
  | 'dir'
  | 'maxLength'
  | 'required'
  | 'autoFocus'
  | 'placeholder'
  | 'class';

interface Props extends Pick<PartialInputHTMLAttributes<HTMLInputElement>, NativeAttribute> {
  id: string;
  type?: 'text' | 'email' | 'search' | 'date';
  label: ComponentChild;
  hint?: ComponentChild;
  error?: string | undefined;
  /** An error does not move the focus here. */
  keepFocus?: boolean;
  /** Values to choose from, with their names; any text can be typed without them. */
  choices?: readonly (readonly [value: string, name: string])[] | undefined;
  onText: (text: string) => void;
}

/**
 * A labelled field for text, or for a choice. An error is shown next to it, linked to it for screen
 * readers, and moves the focus here.
 */
export function Field({
  id,
  label,
  hint,
  error,
  keepFocus,
  choices,
  onText,
  type = 'text',
  ...rest
}: Props) {
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null);
  useEffect(() => {
    if (!error || keepFocus) return;
    input.current?.focus();
    input.current?.select?.();
  }, [error]);
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  const shared = {
    id,
    name: rest.name,
    ref: input,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': described || undefined,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onText(currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices ? (
        <select {...shared} value={rest.value} autoComplete={rest.autoComplete}>
          {choices.map(([value, name]) => (
            <option value={value}>{name}</option>
          ))}
        </select>
      ) : (
        <input {...rest} {...shared} type={type as 'text'} />
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
