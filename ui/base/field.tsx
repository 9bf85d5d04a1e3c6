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
  | 'class';

interface Props extends Pick<PartialInputHTMLAttributes<HTMLInputElement>, NativeAttribute> {
  id: string;
  type?: 'text' | 'email';
  label: string;
  hint?: ComponentChild;
  error?: string | undefined;
  /** An error does not move the focus here. */
  keepFocus?: boolean;
  onText: (text: string) => void;
}

/**
 * A labelled text field. An error is shown next to it, linked to it for screen readers, and moves
 * the focus here.
 */
export function Field({
  id,
  label,
  hint,
  error,
  keepFocus,
  onText,
  type = 'text',
  ...rest
}: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!error || keepFocus) return;
    input.current?.focus();
    input.current?.select();
  }, [error]);
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...rest}
        type={type as 'text'}
        ref={input}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
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
